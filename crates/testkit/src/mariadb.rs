//! MariaDB: making its files and the command that runs it.

use crate::layout::{Layout, run};
use crate::{Error, ServerBuilder, TlsFiles, programs};
use std::fs;
use std::process::Command;

/// Executed by the server before it takes connections (`--init-file`), so that the account is there
/// with the first of them.
const ACCOUNTS: &str = "\
CREATE DATABASE IF NOT EXISTS sbtest;
CREATE USER IF NOT EXISTS 'sbtest'@'%' IDENTIFIED BY 'sbtest';
GRANT ALL PRIVILEGES ON *.* TO 'sbtest'@'%' WITH GRANT OPTION;
";

/// Fast, small, and nothing of the machine's own configuration. A commit is written to the file
/// but not forced to disk: it survives `kill9`, as a test of resuming needs, not a power cut.
const SETTINGS: &[(&str, &str)] = &[
    ("bind-address", "127.0.0.1"),
    ("innodb-buffer-pool-size", "64M"),
    ("innodb-log-file-size", "32M"),
    ("innodb-flush-log-at-trx-commit", "2"),
    ("innodb-flush-method", "nosync"),
    ("innodb-doublewrite", "OFF"),
    ("max-connections", "500"),
    ("skip-name-resolve", "ON"),
    ("skip-log-bin", ""),
];

/// Makes the data folder.
///
/// Set-up and server keep temporary tables in the server's folder: a starting server removes those
/// that it finds, in a shared /tmp also the ones that another server is using.
pub(crate) fn initialise(layout: &Layout) -> Result<(), Error> {
    let program = programs::find(layout.engine, &["mariadb-install-db", "mysql_install_db"])?;
    let mut command = programs::command(&program, layout.account, layout.folder());
    command
        .args(["--no-defaults", "--skip-test-db", "--skip-name-resolve"])
        // The sizes the server will use: it would make its log anew otherwise.
        .args(["--innodb-log-file-size=32M", "--innodb-flush-method=nosync"])
        .arg(format!("--tmpdir={}", layout.folder().display()))
        .arg(format!("--datadir={}", layout.data().display()));
    run(layout, command)?;
    let file = layout.folder().join("accounts.sql");
    fs::write(&file, ACCOUNTS).map_err(Error::io("writing accounts.sql"))
}

/// The command that runs the server in the foreground.
pub(crate) fn command(
    layout: &Layout,
    builder: &ServerBuilder,
    tls: Option<&TlsFiles>,
) -> Result<Command, Error> {
    let program = programs::find(layout.engine, &["mariadbd", "mysqld"])?;
    let mut command = programs::command(&program, layout.account, layout.folder());
    let mut set = |name: &str, value: &str| {
        if value.is_empty() {
            command.arg(format!("--{name}"));
        } else {
            command.arg(format!("--{name}={value}"));
        }
    };
    set("no-defaults", "");
    set("datadir", &layout.data().display().to_string());
    set("tmpdir", &layout.folder().display().to_string());
    set("socket", &layout.socket().display().to_string());
    set("port", &layout.port.to_string());
    let file = |name: &str| layout.folder().join(name).display().to_string();
    set("pid-file", &file("server.pid"));
    set("init-file", &file("accounts.sql"));
    for (name, value) in SETTINGS {
        set(name, value);
    }
    if let Some(tls) = tls {
        set("ssl-ca", &tls.ca.display().to_string());
        set("ssl-cert", &tls.cert.display().to_string());
        set("ssl-key", &tls.key.display().to_string());
    }
    for (name, value) in &builder.settings {
        set(name, value);
    }
    Ok(command)
}
