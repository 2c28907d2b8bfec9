//! What a server's version tells.

use crate::engines;
use crate::reached_hosts::shared;
use std::rc::Rc;
use tidemark_core::{Engine, Protocol, ServerInfo};

/// What a version string tells; sessions of a thread share it.
pub(super) fn server_info(version: &str) -> Rc<ServerInfo> {
    let engine = engines::detect(Protocol::Mysql, &[version], Engine::Mysql);
    // MariaDB says 5.5.5 first, for replicas of old (MDEV-4088).
    let version = version.strip_prefix("5.5.5-").unwrap_or(version);
    shared(ServerInfo {
        engine,
        version: version.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_tells_the_engine() {
        for (version, engine, shown) in [
            (
                "5.5.5-10.11.19-MariaDB",
                Engine::Mariadb,
                "10.11.19-MariaDB",
            ),
            ("8.0.11-TiDB-v7.5.0", Engine::Tidb, "8.0.11-TiDB-v7.5.0"),
            ("8.4.3", Engine::Mysql, "8.4.3"),
            ("5.7.44-log", Engine::Mysql, "5.7.44-log"),
        ] {
            let info = server_info(version);
            assert_eq!((info.engine, info.version.as_str()), (engine, shown));
            assert!(Rc::ptr_eq(&info, &server_info(version)));
        }
    }
}
