//! Settings that are nobody else's business: secrets, and places on the server.

/// Words of a name that stand for secrets or for where they are kept.
const SECRET_WORDS: &[&str] = &[
    "auth",
    "authentication",
    "ca",
    "capath",
    "cert",
    "cipher",
    "ciphers",
    "command",
    "conninfo",
    "crl",
    "crlpath",
    "jwt",
    "keyfile",
    "keytab",
    "krb",
    "ldap",
    "license",
    "oidc",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "secret",
    "secrets",
    "token",
    "uri",
    "url",
];

/// Last words of names of places and of what differs from one server to the next by nature.
const PLACES: &[&str] = &[
    "address",
    "addresses",
    "basename",
    "connect",
    "dir",
    "directories",
    "directory",
    "file",
    "host",
    "hostname",
    "key",
    "library",
    "path",
    "port",
    "pos",
    "socket",
    "state",
    "uid",
];

/// Whether a setting is left out of records.
pub(super) fn is_private(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(['_', '.', '-']).collect();
    let last = words.last().copied().unwrap_or_default();
    words.iter().any(|w| SECRET_WORDS.contains(w))
        || PLACES.contains(&last)
        || last.ends_with("dir")
        || holds_path_or_account(value)
}

/// A path, or a URL with an account in it.
fn holds_path_or_account(value: &str) -> bool {
    value.starts_with('/')
        || value.starts_with("./")
        || (value.contains("://") && value.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_places_are_left_out() {
        for name in [
            "ssl_key",
            "ssl_ca",
            "ssl_cert",
            "report_password",
            "caching_sha2_password_private_key_path",
            "primary_conninfo",
            "wsrep_sst_auth",
            "init_connect",
            "archive_command",
            "datadir",
            "innodb_data_home_dir",
            "hostname",
            "bind_address",
            "unix_socket_directories",
            "cloudstorage.gs.default.key",
            "cluster.secret",
            "enterprise.license",
            "server.oidc_authentication.client_secret",
            "gtid_binlog_pos",
        ] {
            assert!(is_private(name, "x"), "{name}");
        }
        assert!(is_private("anything", "/etc/ssl/private"));
        assert!(is_private("sink", "s3://me:pw@bucket"));
    }

    #[test]
    fn what_explains_a_figure_is_kept() {
        for name in super::super::mysql::ALWAYS
            .iter()
            .chain(super::super::mysql::TIDB)
            .chain(super::super::postgres::ALWAYS)
            .chain(&[
                "innodb_file_per_table",
                "foreign_key_checks",
                "ssl",
                "key_buffer_size",
            ])
        {
            assert!(!is_private(name, "1"), "{name}");
        }
    }
}
