//! From options and libpq's variables to a target.

use super::parse::database;
use crate::exit::Failure;
use crate::target::{from_url, password_variable, text_variable};
use std::path::{Path, PathBuf};
use tidemark_core::{Host, OptionValues, Protocol, Source, Target, TlsMode};

/// Folders in which servers put their sockets: Debian's, and PostgreSQL's own.
const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// Options that say where the database is.
pub const CONNECTION: &[&str] = &["host", "port", "username", "dbname"];

/// The target: `--target`, a URL in the database's place, or as the options and PGHOST, PGPORT, PGUSER
/// and PGDATABASE say.
///
/// # Errors
/// [`Failure`] of bad usage.
pub fn target(options: &OptionValues) -> Result<Target, Failure> {
    let given = |name: &&&str| options.source(name) == Source::CommandLine;
    let is_url = |text: &str| text.starts_with("postgres://") || text.starts_with("postgresql://");
    let url = options
        .text_opt("target")
        .map(|url| (url, "--target", CONNECTION))
        .or_else(|| {
            let url = database(options).filter(|text| is_url(text))?;
            Some((url, "the URL", &CONNECTION[..3]))
        });
    if let Some((url, what, others)) = url {
        // Two places to look for the target would leave it to chance which one is measured.
        if let Some(other) = others.iter().find(given) {
            return Err(Failure::usage(format!(
                "{what} and --{other} both set the target; use one of them"
            )));
        }
        return from_url(url);
    }
    let said = |name: &str, variable: &str| match options.text_opt(name) {
        Some(text) => Ok(Some(text.to_string())),
        None => text_variable(variable),
    };
    let port = said("port", "PGPORT")?.unwrap_or_else(|| "5432".into());
    let number = port.parse::<u16>().ok().filter(|port| *port > 0);
    let number = number.ok_or_else(|| {
        Failure::usage(format!(
            "--port={port}: must be a whole number from 1 to 65535; for example --port=5432"
        ))
    })?;
    let host = said("host", "PGHOST")?;
    let user = match said("username", "PGUSER")? {
        Some(user) => user,
        None => system_user()?,
    };
    let named = match database(options) {
        Some(name) if name.contains('=') => {
            return Err(Failure::usage(format!(
                "{name}: connection strings are not supported; use a URL, for example \
                 postgres://user@host:5432/db"
            )));
        }
        Some(name) => Some(name.to_string()),
        None => text_variable("PGDATABASE")?,
    };
    // What libpq reads as a whole connection may hold a password, and is shown nowhere.
    if named
        .as_ref()
        .is_some_and(|n| n.contains('=') || n.contains("://"))
    {
        return Err(Failure::usage(
            "PGDATABASE must be a database name; for a URL use --target=postgres://user@host:5432/db"
                .to_string(),
        ));
    }
    let word = text_variable("PGSSLMODE")?.unwrap_or_default();
    let tls = match (word.is_empty(), TlsMode::of(&word)) {
        (true, _) => TlsMode::Disabled,
        (false, Some(mode)) => mode,
        (false, None) => {
            return Err(Failure::usage(format!(
                "PGSSLMODE={word}: must be disable, allow, prefer, require, verify-ca or verify-full; for \
                 example PGSSLMODE=verify-full"
            )));
        }
    };
    Ok(Target {
        protocol: Protocol::Postgres,
        hosts: vec![place(host.as_deref(), number)],
        readers: Vec::new(),
        password: password_variable(Protocol::Postgres)?.unwrap_or_default(),
        database: named.unwrap_or_else(|| user.clone()),
        user,
        tls,
        ca: None,
        cert: None,
        key: None,
    })
}

/// The host, or the folder of its socket; without either, the local socket if there is one.
fn place(host: Option<&str>, port: u16) -> Host {
    let socket = |folder: &Path| folder.join(format!(".s.PGSQL.{port}"));
    let tcp = |host: &str| Host::Tcp {
        host: host.into(),
        port,
    };
    match host {
        Some(folder) if folder.starts_with('/') => Host::Unix(socket(Path::new(folder))),
        Some(host) => tcp(host),
        None => {
            let mut found = SOCKETS.iter().map(|folder| socket(Path::new(folder)));
            let found: Option<PathBuf> = found.find(|path| path.exists());
            found.map_or_else(|| tcp("localhost"), Host::Unix)
        }
    }
}

fn system_user() -> Result<String, Failure> {
    let named = match text_variable("USER")? {
        Some(user) => Some(user),
        None => text_variable("LOGNAME")?,
    };
    // Services and containers have neither.
    named
        .or_else(account)
        .ok_or_else(|| Failure::usage("no database user given; for example --username=postgres"))
}

/// The system's name of this process's user, as libpq asks for it.
fn account() -> Option<String> {
    let user = nix::unistd::User::from_uid(nix::unistd::Uid::effective());
    user.ok().flatten().map(|user| user.name)
}

#[cfg(test)]
mod tests {
    use super::super::parse::tests::asked;
    use super::*;

    fn shown(line: &str) -> Result<String, String> {
        let (_, options) = asked(line).unwrap();
        target(&options)
            .map(|t| t.to_string())
            .map_err(|f| f.message)
    }

    #[test]
    fn the_system_knows_who_has_no_variable() {
        let said = std::process::Command::new("id").arg("-un").output();
        let said = String::from_utf8(said.unwrap().stdout).unwrap();
        assert_eq!(account().unwrap_or_default(), said.trim());
    }

    #[test]
    fn options_and_urls_name_the_target() {
        for (line, url) in [
            ("-h h -p 5433 -U u d", "postgres://u@h:5433/d"),
            ("-h h -U u", "postgres://u@h:5432/u"),
            ("postgres://u@h:1/d", "postgres://u@h:1/d"),
            ("--target=postgres://u@h:1/d", "postgres://u@h:1/d"),
        ] {
            assert_eq!(shown(line).unwrap(), url, "{line}");
        }
        let socket = shown("-h /tmp/x -U u d").unwrap();
        assert!(socket.contains("/tmp/x"), "{socket}");
        for (line, said) in [
            ("-h h -p 0 -U u", "--port=0"),
            ("-U u --target=postgres://u@h/d", "--target and --username"),
            ("-p 1 postgres://u@h/d", "the URL and --port"),
            ("-U u host=h", "connection strings"),
        ] {
            let message = shown(line).unwrap_err();
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
