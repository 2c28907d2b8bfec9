//! Which engine answers.

use crate::engines;
use tidemark_core::{Engine, Protocol, ServerInfo};

/// Tells the engine and its version from what `version()` returns and the `server_version`
/// parameter.
///
/// - YugabyteDB: `PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, …`, and `11.2-YB-…` as
///   the parameter.
/// - CockroachDB: `CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built …)`; its parameter is the
///   PostgreSQL version it imitates.
pub(super) fn detect(version: &str, server_version: &str) -> ServerInfo {
    let parameter_or = |fallback: &str| {
        if server_version.is_empty() {
            fallback.to_string()
        } else {
            server_version.to_string()
        }
    };
    let words = |text: &str| text.split(" on ").next().unwrap_or(text).trim().to_string();
    let texts = [version, server_version];
    let engine = engines::detect(Protocol::Postgres, &texts, Engine::Postgres);
    let version = match engines::of(engine).names_itself {
        true => version.split('(').next().unwrap_or(version).trim().into(),
        false => parameter_or(&words(version)),
    };
    ServerInfo { engine, version }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reached_hosts::shared;
    use std::rc::Rc;

    #[test]
    fn documented_version_strings_are_told_apart() {
        let info = detect(
            "PostgreSQL 15.8 (Debian 15.8-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc",
            "15.8 (Debian 15.8-0+deb12u1)",
        );
        assert_eq!(info.engine, Engine::Postgres);
        assert_eq!(info.version, "15.8 (Debian 15.8-0+deb12u1)");
        let info = detect(
            "PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang version \
             15.0.3, 64-bit",
            "11.2-YB-2.18.0.0-b0",
        );
        assert_eq!(info.engine, Engine::Yugabyte);
        assert_eq!(info.version, "11.2-YB-2.18.0.0-b0");
        let info = detect(
            "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27 01:53:43, go1.19.10)",
            "13.0.0",
        );
        assert_eq!(info.engine, Engine::Cockroach);
        assert_eq!(info.version, "CockroachDB CCL v23.1.11");
    }

    #[test]
    fn without_the_parameter_the_function_tells_the_version() {
        let info = detect("PostgreSQL 16.1 on aarch64, compiled by gcc", "");
        assert_eq!(info.version, "PostgreSQL 16.1");
    }

    #[test]
    fn sessions_share_one_copy() {
        let a = shared(detect("PostgreSQL 16.1 on aarch64", "16.1"));
        let b = shared(detect("PostgreSQL 16.1 on aarch64", "16.1"));
        assert!(Rc::ptr_eq(&a, &b));
    }
}
