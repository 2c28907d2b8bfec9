//! MariaDB: making its files and the command that runs it.

use crate::programs::{INSTALL_OF_MARIADB, SERVER_OF_MARIADB};
use crate::{Error, ServerFiles, Superuser};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Settings that the files are made by: the server would refuse others, or make its log anew.
pub const SETTINGS_OF_THE_FILES: &[&str] = &[
    "innodb-data-file-path",
    "innodb-log-file-size",
    "innodb-page-size",
    "innodb-undo-tablespaces",
    "lower-case-table-names",
];

/// What the server executes before it takes connections (`--init-file`), so that the account is
/// there with the first of them.
const ACCOUNTS: &str = "accounts.sql";

/// Makes the data folder.
///
/// Set-up and server keep temporary tables in the server's folder: a starting server removes those
/// that it finds, in a shared /tmp also the ones that another server is using.
pub(crate) fn initialise(
    place: &ServerFiles,
    superuser: &Superuser<'_>,
    settings: &[(String, String)],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), Error> {
    let mut command = place.command(INSTALL_OF_MARIADB)?;
    command
        .args(["--no-defaults", "--skip-test-db", "--skip-name-resolve"])
        // What is not on the disk yet when the server starts will be soon after.
        .arg("--innodb-flush-method=nosync")
        .arg(format!("--tmpdir={}", place.folder.display()))
        .arg(format!("--datadir={}", place.data().display()));
    command.args(based(place));
    for (name, value) in settings {
        if SETTINGS_OF_THE_FILES.contains(&name.replace('_', "-").as_str()) {
            command.arg(format!("--{name}={value}"));
        }
    }
    place.run(command, "", go_on)?;
    let Superuser { name, password } = superuser;
    let accounts = format!(
        "CREATE DATABASE IF NOT EXISTS {name};\n\
         CREATE USER IF NOT EXISTS '{name}'@'%' IDENTIFIED BY '{password}';\n\
         GRANT ALL PRIVILEGES ON *.* TO '{name}'@'%' WITH GRANT OPTION;\n"
    );
    place.secret(ACCOUNTS, &accounts).map(drop)
}

/// The command that runs the server in the foreground.
pub(crate) fn server(place: &ServerFiles, settings: &[(String, String)]) -> Result<Command, Error> {
    let mut command = place.command(SERVER_OF_MARIADB)?;
    command.arg("--no-defaults").args(based(place));
    let own = [
        ("datadir", place.data()),
        ("tmpdir", place.folder.clone()),
        ("socket", place.socket()),
        ("pid-file", place.pid_file()),
        ("init-file", accounts(place)),
    ];
    for (name, path) in own {
        command.arg(format!("--{name}={}", path.display()));
    }
    command.arg(format!("--port={}", place.port));
    command.args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
    for (name, value) in settings {
        command.arg(match value.as_str() {
            "" => format!("--{name}"),
            value => format!("--{name}={value}"),
        });
    }
    Ok(command)
}

/// The file that holds the password until the server has read it.
pub(crate) fn accounts(place: &ServerFiles) -> PathBuf {
    place.folder.join(ACCOUNTS)
}

/// Programs that were unpacked somewhere look for their messages and scripts beside themselves only
/// when they are told.
fn based(place: &ServerFiles) -> Option<String> {
    let from = place.programs.as_deref()?;
    let base = [Some(from), from.parent()]
        .into_iter()
        .flatten()
        .find(|folder: &&Path| folder.join("share").is_dir())?;
    Some(format!("--basedir={}", base.display()))
}
