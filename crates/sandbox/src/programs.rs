//! Which programs make up a server, where they are, and which account may run them.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::env;
use std::fmt;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kind of server that can be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxEngine {
    /// MariaDB, for the MySQL protocol.
    MariaDb,
    /// PostgreSQL.
    Postgres,
}

impl SandboxEngine {
    /// All of them.
    pub const ALL: [SandboxEngine; 2] = [SandboxEngine::MariaDb, SandboxEngine::Postgres];

    /// The word for it on a command line.
    pub fn word(self) -> &'static str {
        match self {
            SandboxEngine::MariaDb => "mariadb",
            SandboxEngine::Postgres => "postgres",
        }
    }

    /// Debian's package of it.
    pub(crate) fn package(self) -> &'static str {
        match self {
            SandboxEngine::MariaDb => "mariadb-server",
            SandboxEngine::Postgres => "postgresql",
        }
    }

    /// The account that Debian's package makes for the server.
    fn account(self) -> &'static str {
        match self {
            SandboxEngine::MariaDb => "mysql",
            SandboxEngine::Postgres => "postgres",
        }
    }

    /// The programs that a private server needs, each by its names.
    pub fn programs(self) -> &'static [&'static [&'static str]] {
        match self {
            SandboxEngine::MariaDb => &[SERVER_OF_MARIADB, INSTALL_OF_MARIADB],
            SandboxEngine::Postgres => &[&["postgres"], &["initdb"]],
        }
    }
}

/// MariaDB's server, newer name first.
pub(crate) const SERVER_OF_MARIADB: &[&str] = &["mariadbd", "mysqld"];
/// What makes its data folder.
pub(crate) const INSTALL_OF_MARIADB: &[&str] = &["mariadb-install-db", "mysql_install_db"];

impl fmt::Display for SandboxEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SandboxEngine::MariaDb => "MariaDB",
            SandboxEngine::Postgres => "PostgreSQL",
        })
    }
}

/// Finds the first of `names`: in and under the folder `from`, or, when there is none, in `PATH` and
/// where Debian keeps what is not in it.
///
/// # Errors
/// [`Error::Missing`] when it is nowhere.
pub fn find(engine: SandboxEngine, names: &[&str], from: Option<&Path>) -> Result<PathBuf, Error> {
    let folders = match from {
        // A server's own archive has them in these.
        Some(from) => ["bin", "sbin", "libexec", "scripts", ""]
            .map(|sub| from.join(sub))
            .to_vec(),
        None => folders(engine),
    };
    for name in names {
        if let Some(found) = folders.iter().map(|f| f.join(name)).find(|p| runnable(p)) {
            return Ok(found);
        }
    }
    Err(Error::Missing {
        engine,
        program: names.join(" or "),
        looked: folders
            .iter()
            .map(|f| f.display().to_string())
            .collect::<Vec<_>>()
            .join(", "),
    })
}

fn runnable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

fn folders(engine: SandboxEngine) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = env::var_os("PATH")
        .map(|path| env::split_paths(&path).collect())
        .unwrap_or_default();
    match engine {
        // An ordinary user's PATH lacks sbin, where mariadbd is.
        SandboxEngine::MariaDb => folders.extend(["/usr/sbin".into(), "/usr/local/sbin".into()]),
        SandboxEngine::Postgres => {
            folders.extend(postgres_folders(Path::new("/usr/lib/postgresql")))
        }
    }
    folders
}

/// `/usr/lib/postgresql/VERSION/bin`, newest version first.
fn postgres_folders(root: &Path) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|e| Some((e.file_name().to_str()?.parse().ok()?, e.path().join("bin"))))
        .collect();
    versions.sort_by(|a, b| b.cmp(a));
    versions.into_iter().map(|(_, path)| path).collect()
}

/// The unprivileged account a server runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

impl Account {
    /// The account to change to: none unless this process is root, because only root can change
    /// and only root must (PostgreSQL refuses to run as root, MariaDB advises against it).
    ///
    /// # Errors
    /// [`Error::Io`] when root finds no such account.
    pub fn for_engine(engine: SandboxEngine) -> Result<Option<Account>, Error> {
        let own = fs::metadata("/proc/self").map_err(Error::io("reading /proc/self"))?;
        if own.uid() != 0 {
            return Ok(None);
        }
        // Packages make their accounts in the file, not in a directory service.
        let passwd = fs::read_to_string("/etc/passwd").map_err(Error::io("reading /etc/passwd"))?;
        [engine.account(), "nobody"]
            .into_iter()
            .find_map(|name| account_in(&passwd, name))
            .map(Some)
            .ok_or_else(|| Error::Io {
                doing: format!("looking for an account to run {engine} as"),
                reason: format!("neither {} nor nobody exists", engine.account()),
            })
    }
}

/// passwd(5): `name:password:uid:gid:…`.
fn account_in(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then_some(())?;
        Some(Account {
            uid: fields.nth(1)?.parse().ok()?,
            gid: fields.next()?.parse().ok()?,
        })
    })
}

/// What a server gets of the environment: where its programs, libraries and time zones are, and how
/// it takes memory.
const OF_THE_ENVIRONMENT: [&str; 8] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MALLOC_ARENA_MAX",
    "MALLOC_CONF",
    "TMPDIR",
    "TZ",
    "TZDIR",
];

/// A command that runs as `account` in `folder`, in a process group of its own: a Ctrl-C in the
/// terminal ends whoever started it, who then ends the server in an orderly way.
pub fn command(program: &Path, account: Option<Account>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).process_group(0);
    // Whoever starts it may have passwords in the environment, which another account could read from
    // the server's, and client settings that are none of the server's.
    command.env_clear().env("LC_ALL", "C");
    command.envs(
        OF_THE_ENVIRONMENT
            .iter()
            .filter_map(|name| Some((name, env::var_os(name)?))),
    );
    if let Some(Account { uid, gid }) = account {
        command.uid(uid).gid(gid);
    }
    command
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_says_how_to_get_it() {
        let text = find(SandboxEngine::Postgres, &["no-such-program"], None)
            .unwrap_err()
            .to_string();
        assert!(text.contains("no-such-program was not found"), "{text}");
        assert!(
            text.contains("apt-get install --no-install-recommends postgresql"),
            "{text}"
        );
        assert!(text.contains("--version-from"), "{text}");
    }

    #[test]
    fn a_folder_that_is_named_is_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let missing =
            find(SandboxEngine::MariaDb, SERVER_OF_MARIADB, Some(root.path())).unwrap_err();
        assert!(matches!(&missing, Error::Missing { looked, .. }
            if looked.contains(&root.path().display().to_string()) && !looked.contains("/usr")));
        fs::create_dir(root.path().join("bin")).unwrap();
        let program = root.path().join("bin/mysqld");
        fs::write(&program, "").unwrap();
        assert!(find(SandboxEngine::MariaDb, SERVER_OF_MARIADB, Some(root.path())).is_err());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let found = find(SandboxEngine::MariaDb, SERVER_OF_MARIADB, Some(root.path()));
        assert_eq!(found.unwrap(), program);
    }

    #[test]
    fn the_newest_postgres_comes_first() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9", "15", "16", "common"] {
            fs::create_dir_all(root.path().join(version).join("bin")).unwrap();
        }
        let found = postgres_folders(root.path());
        let names: Vec<_> = found
            .iter()
            .map(|p| p.strip_prefix(root.path()).unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["16/bin", "15/bin", "9/bin"]);
    }

    #[test]
    fn accounts_are_read_by_their_whole_name() {
        let passwd = "my:x:1:2::/:/bin/sh\nmysql:x:102:105:,,,:/x:/bin/false\n";
        let found = account_in(passwd, "mysql");
        assert_eq!(found, Some(Account { uid: 102, gid: 105 }));
        assert_eq!(account_in(passwd, "sql"), None);
    }

    #[test]
    fn root_changes_to_an_unprivileged_account() {
        let root = fs::metadata("/proc/self").unwrap().uid() == 0;
        let account = Account::for_engine(SandboxEngine::Postgres).unwrap();
        assert_eq!(account.is_some(), root);
        assert!(account.is_none_or(|a| a.uid != 0));
    }
}
