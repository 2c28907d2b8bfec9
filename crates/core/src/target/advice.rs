//! What is said to those whose target was not taken.

const MYSQL_EXAMPLE: &str = "mysql://user:password@127.0.0.1:3306/sbtest";
const POSTGRES_EXAMPLE: &str = "postgres://user:password@127.0.0.1:5432/sbtest";
pub(super) const SQLITE_EXAMPLE: &str = "sqlite:bench.db";
/// What a password that is not escaped leads to.
pub(super) const ESCAPES: &str = "in a user or password, special characters are percent-encoded: @ is %40, \
                       : is %3A, / is %2F, ? is %3F, # is %23, % is %25, & is %26, a blank is %20";
/// The same as several URLs.
const MYSQL_LIST: &str =
    "mysql://user:password@primary/sbtest,mysql://user:password@replica1,replica2/sbtest?role=read";
const POSTGRES_LIST: &str = "postgres://user:password@primary/sbtest,\
                             postgres://user:password@replica1,replica2/sbtest?role=read";

/// The key of ours for what other tools' URLs call so (libpq, Connector/J, go-sql-driver).
pub(super) fn key_elsewhere(key: &str) -> Option<&'static str> {
    Some(match key.to_ascii_lowercase().as_str() {
        "sslmode" | "ssl-mode" | "ssl_mode" | "ssl" | "usessl" => {
            "tls (off, on, verify-full, verify-ca, no-verify)"
        }
        "sslrootcert" | "sslca" | "ssl-ca" | "ssl_ca" => "ca",
        "sslcert" | "ssl-cert" | "ssl_cert" => "cert",
        "sslkey" | "ssl-key" | "ssl_key" => "key",
        "unix_socket" | "unixsocket" => "socket",
        _ => return None,
    })
}

/// A right target of the kind that a wrong one seems to be.
pub(super) fn example_like(given: &str) -> &'static str {
    let given = given.trim_start();
    let begins = |words: &[&str]| words.iter().any(|word| given.starts_with(word));
    // `key=value` words are libpq's (PostgreSQL manual, 32.1.1).
    if begins(&[
        "postg",
        "pg",
        "jdbc:postg",
        "yuga",
        "cockr",
        "host=",
        "user=",
        "dbname=",
    ]) {
        POSTGRES_EXAMPLE
    } else if begins(&["sqlite", "sqllite", "file:"]) {
        SQLITE_EXAMPLE
    } else {
        MYSQL_EXAMPLE
    }
}

/// The same of several URLs.
pub(super) fn list_like(given: &str) -> &'static str {
    match example_like(given) == POSTGRES_EXAMPLE {
        true => POSTGRES_LIST,
        false => MYSQL_LIST,
    }
}
