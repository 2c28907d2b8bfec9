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
        "ssl-mode" | "ssl_mode" | "ssl" | "usessl" => {
            "tls (off, on, verify-full, verify-ca, no-verify)"
        }
        "sslca" | "ssl-ca" | "ssl_ca" => "ca",
        "ssl-cert" | "ssl_cert" => "cert",
        "ssl-key" | "ssl_key" => "key",
        "unix_socket" | "unixsocket" => "socket",
        _ => return None,
    })
}

/// What libpq's `sslmode` says that can't be taken over as it is.
pub(super) fn sslmode(value: &str) -> String {
    match value {
        "require" => "sslmode=require encrypts and verifies nothing; write tls=no-verify for the \
                      same, or tls=on to verify the server"
            .into(),
        "allow" | "prefer" => format!(
            "sslmode={value} leaves it to the server whether the session is encrypted; write tls=on \
             or tls=off"
        ),
        _ => "sslmode: must be disable, verify-ca, verify-full (or tls=off, verify-ca, on, \
              no-verify)"
            .into(),
    }
}

/// What is done here in the place of libpq's key (PostgreSQL manual, 34.1.2).
pub(super) fn libpq_key(key: &str) -> Option<&'static str> {
    Some(match key {
        "connect_timeout" => "write --connect-timeout=10s on the command line",
        "options" => "write --set-session='work_mem=65536' on the command line",
        "application_name" | "fallback_application_name" => {
            "Tidemark names its sessions; remove it"
        }
        "hostaddr" => "write the address as the host, as postgres://user@10.0.0.1:5432/db",
        "target_session_attrs" => "put read-only hosts in a URL with role=read",
        "sslpassword"
        | "sslcrl"
        | "sslcrldir"
        | "sslcompression"
        | "sslsni"
        | "sslnegotiation"
        | "passfile"
        | "service"
        | "require_auth"
        | "channel_binding"
        | "gssencmode"
        | "krbsrvname"
        | "load_balance_hosts"
        | "client_encoding"
        | "keepalives"
        | "keepalives_idle"
        | "keepalives_interval"
        | "keepalives_count"
        | "tcp_user_timeout" => "Tidemark has no equivalent; remove it",
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
