//! Advice in the words of the command line that was used.

use crate::exit::{ExitCode, Failure};
use tidemark_core::{OptionValues, Source};

/// What drivers call a TLS setting, by the keys of a URL, and the option of each protocol.
const TLS: &[(&str, &str, &str)] = &[
    ("tls=off", "--mysql-ssl=off", "--pgsql-sslmode=disable"),
    (
        "tls=verify-ca",
        "--mysql-ssl=verify-ca",
        "--pgsql-sslmode=verify-ca",
    ),
    (
        "tls=no-verify",
        "--mysql-ssl=no-verify",
        "--pgsql-sslmode=no-verify",
    ),
    ("ca=FILE", "--mysql-ssl-ca=FILE", "--pgsql-sslrootcert=FILE"),
    ("cert=FILE", "--mysql-ssl-cert=FILE", "--pgsql-sslcert=FILE"),
    ("key=FILE", "--mysql-ssl-key=FILE", "--pgsql-sslkey=FILE"),
];

/// Names the options where the target was not given as a URL, whose keys the drivers speak of.
pub fn in_the_users_words(mut failure: Failure, options: &OptionValues) -> Failure {
    if failure.code != ExitCode::Connect || options.source("target") != Source::Default {
        return failure;
    }
    let postgres = match options.text("db-driver") {
        "mysql" => false,
        "pgsql" => true,
        _ => return failure,
    };
    for (key, mysql, pgsql) in TLS {
        // A whole word: "tls=off" is no part of anything else, "ca=FILE" could be.
        let word = format!(" {key}");
        let option = format!(" {}", if postgres { pgsql } else { mysql });
        failure.message = failure.message.replace(&word, &option);
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::super::options::GROUPS;
    use super::*;

    fn said(message: &str, given: &[(&str, &str)]) -> String {
        let mut options = OptionValues::defaults(GROUPS.iter().map(|g| g.options));
        for (name, value) in given {
            options.set(name, value, Source::CommandLine).unwrap();
        }
        let failure = Failure::new(ExitCode::Connect, message);
        in_the_users_words(failure, &options).message
    }

    #[test]
    fn the_option_that_was_used_is_named() {
        let message = "h offers no TLS; turn it on there, or use tls=off for plain text";
        let mysql = said(message, &[("mysql-ssl", "on")]);
        assert!(mysql.contains("use --mysql-ssl=off for"), "{mysql}");
        let pgsql = said(message, &[("db-driver", "pgsql")]);
        assert!(pgsql.contains("use --pgsql-sslmode=disable for"), "{pgsql}");
        let url = said(message, &[("target", "mysql://u@h/d?tls=on")]);
        assert_eq!(url, message);
        let ca = said("set ca=FILE (x)", &[]);
        assert_eq!(ca, "set --mysql-ssl-ca=FILE (x)");
        let client = said("with cert=FILE and key=FILE, or use tls=no-verify to", &[]);
        assert_eq!(
            client,
            "with --mysql-ssl-cert=FILE and --mysql-ssl-key=FILE, or use --mysql-ssl=no-verify to"
        );
    }
}
