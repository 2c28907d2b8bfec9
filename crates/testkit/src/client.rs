//! SQL through the `mariadb` and `psql` command line clients: no driver is trusted to test itself.

use crate::{Endpoint, Error, SandboxEngine};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tidemark_core::Host;
use tidemark_sandbox::{command as program_command, find};

/// Runs `sql` in `database`; the rows, columns parted by tabs, one row a line, without headings.
pub(crate) fn query(endpoint: &Endpoint, database: &str, sql: &str) -> Result<String, Error> {
    let engine = endpoint.engine();
    let mut child = command(endpoint, database)?
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(Error::io(format!("starting the {engine} client")))?;
    // By pipe, not by argument: SQL that sets a password would show in the process list. A client
    // that has ended early says why on standard error, so a broken pipe is no news.
    if let Some(mut stdin) = child.stdin.take() {
        let sql = sql.to_owned();
        std::thread::spawn(move || stdin.write_all(sql.as_bytes()));
    }
    let out = child
        .wait_with_output()
        .map_err(Error::io(format!("running the {engine} client")))?;
    if !out.status.success() {
        return Err(Error::Sql {
            engine,
            message: String::from_utf8_lossy(&out.stderr).trim().to_string(),
        });
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

fn command(endpoint: &Endpoint, database: &str) -> Result<Command, Error> {
    let target = endpoint.target();
    let password = target.password.reveal();
    // Private servers are asked by socket: it goes on working when a test forbids plain TCP.
    let host = match endpoint.socket_path() {
        Some(path) => Some(Host::Unix(path.to_path_buf())),
        None => target.hosts.first().cloned(),
    };
    let root = Path::new("/");
    match endpoint.engine() {
        SandboxEngine::MariaDb => {
            let program = find(SandboxEngine::MariaDb, &["mariadb", "mysql"], None)?;
            let mut command = program_command(&program, None, root);
            command.args(["--no-defaults", "--batch", "--raw", "--skip-column-names"]);
            match host {
                Some(Host::Unix(path)) => command.arg("--socket").arg(path),
                Some(Host::Tcp { host, port }) => command
                    .args(["--protocol=tcp", "--host", &host, "--port"])
                    .arg(port.to_string()),
                None => &mut command,
            };
            command.args(["--user", &target.user, "--database", database]);
            command.env("MYSQL_PWD", password);
            Ok(command)
        }
        SandboxEngine::Postgres => {
            let program = find(SandboxEngine::Postgres, &["psql"], None)?;
            let mut command = program_command(&program, None, root);
            command.args(["-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1"]);
            let (host, port) = match host {
                Some(Host::Tcp { host, port }) => (host, port),
                Some(Host::Unix(path)) => libpq_socket(&path),
                None => ("127.0.0.1".into(), 5432),
            };
            command
                .args(["-h", &host, "-p", &port.to_string()])
                .args(["-U", &target.user, "-d", database, "-f", "-"])
                .env("PGPASSWORD", password)
                .env("PGCONNECT_TIMEOUT", "10");
            Ok(command)
        }
    }
}

/// libpq names a socket by its folder and the port at the end of the file's name.
fn libpq_socket(path: &Path) -> (String, u16) {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let port = path
        .extension()
        .and_then(|e| e.to_str()?.parse().ok())
        .unwrap_or(5432);
    (folder.display().to_string(), port)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_file_names_folder_and_port() {
        assert_eq!(
            libpq_socket(Path::new("/run/pg/.s.PGSQL.6543")),
            ("/run/pg".to_string(), 6543)
        );
    }
}
