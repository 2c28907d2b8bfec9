//! PostgreSQL: making its files and the command that runs it.

use crate::{Error, ServerFiles, Superuser, ownership};
use std::fs;
use std::process::{Command, Stdio};

/// Makes the data folder, the account as its superuser, and the account's database.
pub(crate) fn initialise(
    place: &ServerFiles,
    superuser: &Superuser<'_>,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let Superuser { name, password } = superuser;
    let file = place.secret("password", &format!("{password}\n"))?;
    let mut command = place.command(&["initdb"])?;
    command
        .args(["--auth=scram-sha-256", "--no-sync", "--no-locale"])
        .args(["--encoding=UTF8", "--username", name])
        .arg(format!("--pwfile={}", file.display()))
        .arg(format!("--pgdata={}", place.data().display()));
    let made = place.run(command, "", go_on);
    let removed = fs::remove_file(&file).map_err(Error::io("removing the password file"));
    made.and(removed)?;
    // Before the server runs nobody needs a client to make a database (PostgreSQL documentation,
    // `postgres`, single-user mode).
    let mut single = place.command(&["postgres"])?;
    single.arg("--single").arg("-D").arg(place.data());
    single.args(["-c", "fsync=off", "postgres"]);
    place.run(single, &format!("CREATE DATABASE {name};\n"), go_on)
}

/// The command that runs the server in the foreground.
pub(crate) fn server(place: &ServerFiles, settings: &[(String, String)]) -> Result<Command, Error> {
    let mut command = place.command(&["postgres"])?;
    command.arg("-D").arg(place.data());
    command.args(["-p", &place.port.to_string()]);
    let mut set = |name: &str, value: &str| {
        command.args(["-c", &format!("{name}={value}")]);
    };
    set(
        "unix_socket_directories",
        &place.folder.display().to_string(),
    );
    set("listen_addresses", "127.0.0.1");
    set("logging_collector", "off");
    for (name, value) in settings {
        set(name, value);
    }
    Ok(command)
}

/// Removes the System V segment that a killed postmaster leaves behind; its id is the second number
/// of `postmaster.pid`'s 7th line (PostgreSQL documentation, 73.1 Database File Layout).
pub fn remove_shared_memory(place: &ServerFiles) {
    let id = ownership::text_of_server(&place.pid_file()).and_then(|text| {
        let line = text.lines().nth(6)?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    if let Some(id) = id {
        // Without ipcrm 56 bytes of kernel memory stay until the machine restarts.
        let _ = Command::new("ipcrm")
            .args(["-m", &id.to_string()])
            .stderr(Stdio::null())
            .status();
    }
}
