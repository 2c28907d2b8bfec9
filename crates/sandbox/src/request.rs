//! What server is asked for.

use crate::{Error, SandboxEngine};
use percent_encoding::percent_decode_str;
use std::path::PathBuf;
use tidemark_core::nearest;

/// What server is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxRequest {
    /// What kind of server.
    pub engine: SandboxEngine,
    /// The folder whose programs are used, and no others: of an unpacked archive, or of its `bin`.
    pub version_from: Option<PathBuf>,
    /// Settings of the server, by the server's own names; of one name the last wins.
    pub settings: Vec<(String, String)>,
    /// The folder for its files: empty, or not there yet; a temporary one when none is named.
    pub folder: Option<PathBuf>,
    /// What it is called by; the engine's word, perhaps with a number, when nothing is said.
    pub name: Option<String>,
}

/// What makes a server private, or a sandbox's own: not to be set.
const RESERVED: &[&str] = &[
    "aria-log-dir-path",
    "basedir",
    "bind-address",
    "config-file",
    "data-directory",
    "datadir",
    "defaults-extra-file",
    "defaults-file",
    "external-pid-file",
    "extra-port",
    "hba-file",
    "ident-file",
    "init-file",
    "innodb-data-file-path",
    "innodb-data-home-dir",
    "innodb-log-group-home-dir",
    "innodb-undo-directory",
    "listen-addresses",
    "logging-collector",
    "pid-file",
    "port",
    "skip-grant-tables",
    "skip-networking",
    "socket",
    "tmpdir",
    "unix-socket-directories",
    "user",
];

/// What MariaDB's programs read before a name, in any order ("Option prefixes").
const PREFIXES: [&str; 5] = ["loose-", "skip-", "enable-", "disable-", "maximum-"];

/// What the names begin with that MariaDB's server takes without a value.
const SWITCHES: [&str; 3] = ["skip-", "enable-", "disable-"];

/// Settings whose files are only read, and may lie outside of the sandbox's folder.
const ONLY_READ: &[&str] = &["character-sets-dir", "lc-messages-dir", "plugin-dir"];

/// Whether a name means one of the reserved ones, which may be cut short as long as it is clear.
fn is_reserved(name: &str) -> bool {
    let means = |name: &str| {
        RESERVED
            .iter()
            .any(|r| !name.is_empty() && r.starts_with(name))
    };
    let mut bare = name;
    loop {
        if means(bare) {
            return true;
        }
        match PREFIXES.iter().find_map(|p| bare.strip_prefix(p)) {
            Some(rest) => bare = rest,
            None => return means(&format!("skip-{bare}")),
        }
    }
}

/// Whether a file outside of the sandbox's folder could be written: another server's, perhaps.
fn leaves_the_folder(name: &str, value: &str) -> bool {
    let outside = value.starts_with('/') || value.split(['/', ';']).any(|part| part == "..");
    outside && !ONLY_READ.contains(&name) && !name.starts_with("ssl-")
}

impl SandboxRequest {
    /// A server of this kind with its own defaults.
    pub fn new(engine: SandboxEngine) -> Self {
        Self {
            engine,
            version_from: None,
            settings: Vec::new(),
            folder: None,
            name: None,
        }
    }

    /// Whether a target is to be started, and no URL of one that runs: `up:…`.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("up:")
    }

    /// Reads `up:ENGINE?SETTING=VALUE&version-from=FOLDER&dir=FOLDER&name=NAME`; what follows the
    /// engine may be left out. Values are percent-encoded where they hold `&`, `%` or `+`… as in
    /// any URL.
    ///
    /// # Errors
    /// [`Error::Request`], which says what is allowed.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let rest = text.strip_prefix("up:").unwrap_or(text);
        let (engine, query) = match rest.split_once('?') {
            Some((engine, query)) => (engine, query),
            None => (rest, ""),
        };
        let mut request = Self::new(Self::engine(engine)?);
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let decoded = percent_decode_str(pair).decode_utf8_lossy();
            let (name, value) = request.setting(&decoded)?;
            match name.as_str() {
                "version-from" => request.version_from = Some(value.into()),
                "dir" => request.folder = Some(value.into()),
                "name" => request.name = Some(value),
                _ => request.settings.push((name, value)),
            }
        }
        request.check()?;
        Ok(request)
    }

    /// The engine that a word names.
    ///
    /// # Errors
    /// [`Error::Request`] with the nearest one.
    pub fn engine(word: &str) -> Result<SandboxEngine, Error> {
        let known = SandboxEngine::ALL.map(SandboxEngine::word);
        if let Some(engine) = SandboxEngine::ALL.into_iter().find(|e| e.word() == word) {
            return Ok(engine);
        }
        let near = match word {
            "mysql" => Some("mariadb"),
            "postgresql" | "pg" => Some("postgres"),
            word => nearest(word, known),
        };
        let hint = near.map_or(String::new(), |n| format!("; did you mean {n}?"));
        Err(Error::Request(format!(
            "unknown server {word:?}; known: {}{hint}",
            known.join(" and ")
        )))
    }

    /// Adds a setting written `NAME=VALUE`, or a switch of MariaDB's by its name.
    ///
    /// # Errors
    /// [`Error::Request`], which says what is allowed.
    pub fn set(&mut self, text: &str) -> Result<(), Error> {
        let setting = self.setting(text)?;
        self.settings.push(setting);
        self.check()
    }

    /// Looks whether it can be asked of a server.
    ///
    /// # Errors
    /// [`Error::Request`], which says what is allowed.
    pub fn check(&self) -> Result<(), Error> {
        for (name, value) in &self.settings {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
            if !begins || !name.chars().all(plain) || value.contains(['\0', '\n', '\r']) {
                return Err(Error::Request(format!(
                    "setting {:?}: must be NAME=VALUE in the server's own words; for example {}",
                    format!("{name}={value}"),
                    self.example()
                )));
            }
            let dashed = name.to_ascii_lowercase().replace('_', "-");
            if is_reserved(&dashed) {
                return Err(Error::Request(format!(
                    "setting {name} is reserved by the sandbox, which listens only on this \
                     machine; others can be set, for example {}",
                    self.example()
                )));
            }
            if leaves_the_folder(&dashed, value) {
                return Err(Error::Request(format!(
                    "setting {name}={value}: sandbox files stay in its own folder; use a file \
                     name without a path"
                )));
            }
        }
        if let Some(name) = &self.name {
            check_name(name)?;
        }
        Ok(())
    }

    /// Splits `NAME=VALUE`. A name alone is a slip, but for the switches that MariaDB has.
    fn setting(&self, text: &str) -> Result<(String, String), Error> {
        let is_switch = |name: &str| {
            let dashed = name.to_ascii_lowercase().replace('_', "-");
            SWITCHES.iter().any(|begin| dashed.starts_with(begin))
        };
        let also = match self.engine {
            SandboxEngine::MariaDb => ", or a switch such as skip-log-bin",
            SandboxEngine::Postgres => "",
        };
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
            None if self.engine == SandboxEngine::MariaDb && is_switch(text) => {
                Ok((text.into(), String::new()))
            }
            split => {
                let lacks = if split.is_some() { "name" } else { "value" };
                Err(Error::Request(format!(
                    "setting {text:?} has no {lacks}: must be NAME=VALUE in the server's own \
                     words{also}; for example {}",
                    self.example()
                )))
            }
        }
    }

    fn example(&self) -> &'static str {
        match self.engine {
            SandboxEngine::MariaDb => "innodb_buffer_pool_size=1G",
            SandboxEngine::Postgres => "shared_buffers=1GB",
        }
    }
}

/// Names are files, words of a command line and of URLs.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
    if begins && name.len() <= 40 && name.chars().all(plain) {
        return Ok(());
    }
    Err(Error::Request(format!(
        "name {name:?}: use up to 40 letters, digits, - and _; for example --name before"
    )))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn targets_name_settings_versions_and_places() {
        let request = SandboxRequest::parse(
            "up:mariadb?innodb_flush_log_at_trx_commit=1&version-from=/opt/x%26y&name=b&skip-log-bin",
        )
        .unwrap();
        assert_eq!(
            request,
            SandboxRequest {
                engine: SandboxEngine::MariaDb,
                version_from: Some("/opt/x&y".into()),
                settings: vec![
                    ("innodb_flush_log_at_trx_commit".into(), "1".into()),
                    ("skip-log-bin".into(), String::new()),
                ],
                folder: None,
                name: Some("b".into()),
            }
        );
        let plain = SandboxRequest::parse("up:postgres").unwrap();
        assert_eq!(plain, SandboxRequest::new(SandboxEngine::Postgres));
        assert!(SandboxRequest::is_meant("up:x") && !SandboxRequest::is_meant("mysql://h"));
    }

    #[test]
    fn what_is_not_allowed_is_said_with_an_example() {
        for (text, part) in [
            ("up:mysql", "did you mean mariadb?"),
            ("up:postgresql", "did you mean postgres?"),
            ("up:", "known: mariadb and postgres"),
            ("up:mariadb?port=3306", "reserved by the sandbox"),
            ("up:mariadb?bind_address=0.0.0.0", "reserved by the sandbox"),
            ("up:postgres?Listen_Addresses=*", "reserved by the sandbox"),
            ("up:postgres?data_directory=/x", "shared_buffers=1GB"),
            ("up:mariadb?loose-DataDir=/var", "reserved by the sandbox"),
            ("up:mariadb?skip-loose-port=1", "reserved by the sandbox"),
            ("up:mariadb?datadi=x", "reserved by the sandbox"),
            ("up:mariadb?skip-network", "reserved by the sandbox"),
            (
                "up:mariadb?innodb_undo_directory=u",
                "reserved by the sandbox",
            ),
            ("up:mariadb?log-bin=/var/lib/mysql/b", "its own folder"),
            ("up:mariadb?log-error=../../e", "its own folder"),
            ("up:mariadb?=1", "NAME=VALUE"),
            ("up:mariadb?foo", "\"foo\" has no value"),
            ("up:mariadb?foo", "for example innodb_buffer_pool_size=1G"),
            ("up:postgres?fsync", "for example shared_buffers=1GB"),
            ("up:postgres?skip-log-bin", "has no value"),
            ("up:mariadb?-x=1", "NAME=VALUE"),
            ("up:mariadb?a%20b=1", "NAME=VALUE"),
            ("up:mariadb?a=1%0ab", "NAME=VALUE"),
            ("up:mariadb?name=../x", "up to 40 letters"),
            ("up:mariadb?name=", "up to 40 letters"),
        ] {
            let error = SandboxRequest::parse(text).unwrap_err();
            assert!(matches!(error, Error::Request(_)), "{text}: {error:?}");
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }
}
