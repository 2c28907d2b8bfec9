//! Advice in the words of go-tpc's flags.

use crate::exit::{ExitCode, Failure};
use tidemark_core::{OptionValues, Source};

/// What drivers call a TLS setting, by the keys of a URL, and its connection parameter on MySQL
/// and on PostgreSQL; the latter is empty where there is none.
const TLS: &[(&str, &str, &str)] = &[
    (
        "tls=off",
        "--conn-params tls=false",
        "--conn-params sslmode=disable",
    ),
    ("tls=verify-ca", "", "--conn-params sslmode=verify-ca"),
    (
        "tls=no-verify",
        "--conn-params tls=skip-verify",
        "--conn-params sslmode=no-verify",
    ),
    (
        "ca=FILE",
        "",
        "--conn-params 'sslmode=require&sslrootcert=FILE'",
    ),
];

/// Names the flags where the target was not given as a URL, and the port that an engine is usually
/// at where go-tpc's own default was tried in vain.
pub(super) fn in_go_tpcs_words(mut failure: Failure, options: &OptionValues) -> Failure {
    if failure.code != ExitCode::Connect || options.source("target") != Source::Default {
        return failure;
    }
    let postgres = options.text("driver") == "postgres";
    for (key, mysql, pgsql) in TLS {
        let parameter = if postgres { pgsql } else { mysql };
        if !parameter.is_empty() {
            let word = format!(" {key}");
            failure.message = failure.message.replace(&word, &format!(" {parameter}"));
        }
    }
    let default_port = ["port", "targets"]
        .iter()
        .all(|name| options.source(name) == Source::Default);
    if default_port && failure.message.contains("refused") {
        failure.message += match postgres {
            true => "; PostgreSQL is usually at port 5432: add -P 5432 (4000 is TiDB's)",
            false => "; MariaDB and MySQL are usually at port 3306: add -P 3306 (4000 is TiDB's)",
        };
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::tpcc::options_of;

    fn said(message: &str, line: &str) -> String {
        let failure = Failure::new(ExitCode::Connect, message);
        in_go_tpcs_words(failure, &options_of(line)).message
    }

    #[test]
    fn the_flag_that_was_used_is_named() {
        let message = "h offers no TLS; turn it on there, or use tls=off for plain text";
        for (line, flag) in [
            ("run -P 1", "use --conn-params tls=false for"),
            (
                "run -P 1 -d postgres",
                "use --conn-params sslmode=disable for",
            ),
            ("run --target mysql://u@h/d?tls=on", "use tls=off for"),
        ] {
            let told = said(message, line);
            assert!(told.contains(flag), "{told}");
        }
    }

    #[test]
    fn a_port_that_nobody_listens_on_is_told_beside_the_usual_one() {
        let message = "can't connect to 127.0.0.1:4000: Connection refused";
        assert!(said(message, "run").ends_with("add -P 3306 (4000 is TiDB's)"));
        assert!(said(message, "run -d postgres").contains("-P 5432"));
        assert_eq!(said(message, "run -P 4000"), message);
        assert_eq!(said("Access denied", "run"), "Access denied");
    }
}
