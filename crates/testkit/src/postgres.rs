//! PostgreSQL: making its files and the command that runs it.

use crate::layout::{Layout, run};
use crate::{Error, SBTEST, ServerBuilder, TlsFiles, process, programs};
use std::fs;
use std::io::Write;
use std::os::unix::fs::chown;
use std::process::Command;

/// Fast and small. A commit is written to the file but not forced to disk: it survives `kill9`, as
/// a test of resuming needs, not a power cut.
const SETTINGS: &[(&str, &str)] = &[
    ("listen_addresses", "127.0.0.1"),
    ("shared_buffers", "64MB"),
    ("max_connections", "300"),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("logging_collector", "off"),
];

/// Makes the data folder; the account is its superuser.
pub(crate) fn initialise(layout: &Layout, builder: &ServerBuilder) -> Result<(), Error> {
    let program = programs::find(layout.engine, &["initdb"])?;
    let mut password = tempfile::NamedTempFile::new_in(layout.folder())
        .map_err(Error::io("writing the password file"))?;
    writeln!(password, "{SBTEST}").map_err(Error::io("writing the password file"))?;
    if let Some(account) = layout.account {
        chown(password.path(), Some(account.uid), Some(account.gid))
            .map_err(Error::io("giving away the password file"))?;
    }
    let mut command = programs::command(&program, layout.account, layout.folder());
    command
        .args(["--auth=scram-sha-256", "--no-sync", "--no-locale"])
        .args(["--encoding=UTF8", "--username", SBTEST])
        .arg(format!("--pwfile={}", password.path().display()))
        .arg(format!("--pgdata={}", layout.data().display()));
    run(layout, command)?;

    if !builder.hba.is_empty() {
        let file = layout.data().join("pg_hba.conf");
        let rest = fs::read_to_string(&file).map_err(Error::io("reading pg_hba.conf"))?;
        fs::write(&file, format!("{}\n{rest}", builder.hba.join("\n")))
            .map_err(Error::io("writing pg_hba.conf"))?;
    }
    Ok(())
}

/// The command that runs the server in the foreground.
pub(crate) fn command(
    layout: &Layout,
    builder: &ServerBuilder,
    tls: Option<&TlsFiles>,
) -> Result<Command, Error> {
    let program = programs::find(layout.engine, &["postgres"])?;
    let mut command = programs::command(&program, layout.account, layout.folder());
    command.arg("-D").arg(layout.data());
    command.args(["-p", &layout.port.to_string()]);
    let mut set = |name: &str, value: &str| {
        command.args(["-c", &format!("{name}={value}")]);
    };
    set(
        "unix_socket_directories",
        &layout.folder().display().to_string(),
    );
    for (name, value) in SETTINGS {
        set(name, value);
    }
    if let Some(tls) = tls {
        set("ssl", "on");
        set("ssl_cert_file", &tls.cert.display().to_string());
        set("ssl_key_file", &tls.key.display().to_string());
    }
    for (name, value) in &builder.settings {
        set(name, value);
    }
    Ok(command)
}

/// Removes the System V segment that a killed postmaster leaves behind; its id is the second number
/// of `postmaster.pid`'s 7th line (PostgreSQL documentation, 73.1 Database File Layout).
pub(crate) fn remove_shared_memory(layout: &Layout) {
    let id = fs::read_to_string(layout.data().join("postmaster.pid"))
        .ok()
        .and_then(|text| {
            let line = text.lines().nth(6)?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        });
    if let Some(id) = id {
        // Without ipcrm 56 bytes of kernel memory stay until the machine restarts.
        let _ = Command::new("ipcrm")
            .args(["-m", &id.to_string()])
            .stderr(std::process::Stdio::null())
            .status();
    }
}

/// The server's processes besides the postmaster. They don't share its process group.
pub(crate) fn backends(postmaster: u32) -> Vec<u32> {
    process::children(postmaster)
}
