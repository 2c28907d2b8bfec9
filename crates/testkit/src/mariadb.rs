//! MariaDB as tests want it.

use crate::TlsFiles;

/// Fast and small. A commit is written to the file but not forced to disk: it survives `kill9`, as a
/// test of resuming needs, not a power cut.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("innodb-buffer-pool-size", "64M"),
    ("innodb-log-file-size", "32M"),
    ("innodb-flush-log-at-trx-commit", "2"),
    ("innodb-flush-method", "nosync"),
    ("innodb-doublewrite", "OFF"),
    ("max-connections", "500"),
    ("skip-log-bin", ""),
];

/// What makes it speak TLS.
pub(crate) fn tls(files: &TlsFiles) -> [(&'static str, String); 3] {
    [
        ("ssl-ca", files.ca.display().to_string()),
        ("ssl-cert", files.cert.display().to_string()),
        ("ssl-key", files.key.display().to_string()),
    ]
}
