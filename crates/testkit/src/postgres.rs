//! PostgreSQL as tests want it.

use crate::layout::Layout;
use crate::{Error, TlsFiles};
use std::fs;

/// Fast and small. A commit is written to the file but not forced to disk: it survives `kill9`, as
/// a test of resuming needs, not a power cut.
pub(crate) const SETTINGS: &[(&str, &str)] = &[
    ("shared_buffers", "64MB"),
    ("max_connections", "300"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
];

/// Puts lines at the head of `pg_hba.conf`, where the first match counts.
pub(crate) fn admit(layout: &Layout, lines: &[String]) -> Result<(), Error> {
    if lines.is_empty() {
        return Ok(());
    }
    let file = layout.data().join("pg_hba.conf");
    let rest = fs::read_to_string(&file).map_err(Error::io("reading pg_hba.conf"))?;
    fs::write(&file, format!("{}\n{rest}", lines.join("\n")))
        .map_err(Error::io("writing pg_hba.conf"))
}

/// What makes it speak TLS.
pub(crate) fn tls(files: &TlsFiles) -> [(&'static str, String); 3] {
    [
        ("ssl", "on".into()),
        ("ssl_cert_file", files.cert.display().to_string()),
        ("ssl_key_file", files.key.display().to_string()),
    ]
}

/// The server's processes besides the postmaster. They don't share its process group.
pub(crate) fn backends(postmaster: u32) -> Vec<u32> {
    tidemark_process::children(postmaster)
}
