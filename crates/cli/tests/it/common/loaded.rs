//! Tables that are loaded once for all tests that begin with them: hundreds of thousands of rows take
//! longer to load than what a test does with them. Each test has a copy of its own.

use super::Workdir;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};

/// A warehouse of TPC-C, into a file of SQLite in a test's folder.
pub fn warehouse(dir: &Workdir, name: &str) {
    static LOADED: OnceLock<File> = OnceLock::new();
    let load = ["tpcc", "--warehouses=1", "-T2", "--no-check", "prepare"];
    copy(&LOADED, &load, dir, name);
}

/// TPC-H at scale factor 0.01, likewise.
pub fn tpch_file(dir: &Workdir, name: &str) {
    static LOADED: OnceLock<File> = OnceLock::new();
    copy(&LOADED, &["tpch", "--sf=0.01", "prepare"], dir, name);
}

fn copy(loaded: &OnceLock<File>, load: &[&str], dir: &Workdir, name: &str) {
    // Its name is gone, so that nothing is left behind when the last test has ended.
    let loaded = loaded.get_or_init(|| {
        let dir = Workdir::new();
        dir.ok(&[load, &["--target=sqlite:loaded.db"]].concat());
        File::open(dir.path().join("loaded.db")).unwrap()
    });
    let open = format!("/proc/self/fd/{}", loaded.as_raw_fd());
    fs::copy(open, dir.path().join(name)).unwrap();
}

/// TPC-H at scale factor 0.01, loaded on one engine.
pub struct Tpch {
    pub dir: Workdir,
    /// For `--target`.
    pub target: String,
    database: Option<Database>,
    /// What the database was copied from: the last one to hold it drops it.
    _copied: Option<Arc<Database>>,
}

impl Tpch {
    pub fn on(engine: &str, purpose: &str) -> Self {
        let dir = Workdir::new();
        let (target, database, copied) = match engine {
            "sqlite" => {
                tpch_file(&dir, "a.db");
                ("sqlite:a.db".to_string(), None, None)
            }
            "postgres" => {
                let loaded = on_postgres();
                let database = loaded.copy(purpose).unwrap();
                (database.url(), Some(database), Some(loaded))
            }
            "mariadb" => {
                let database = shared_mariadb().unwrap().fresh_database(purpose).unwrap();
                load(&dir, &database);
                (database.url(), Some(database), None)
            }
            other => panic!("{other}"),
        };
        Self {
            dir,
            target,
            database,
            _copied: copied,
        }
    }

    /// The server's database.
    pub fn database(&self) -> &Database {
        self.database.as_ref().expect("SQLite's is a file")
    }
}

fn on_postgres() -> Arc<Database> {
    static LOADED: Mutex<Weak<Database>> = Mutex::new(Weak::new());
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = loaded.upgrade() {
        return loaded;
    }
    let database = shared_postgres().unwrap().fresh_database("tpch_loaded");
    let database = Arc::new(database.unwrap());
    load(&Workdir::new(), &database);
    *loaded = Arc::downgrade(&database);
    database
}

fn load(dir: &Workdir, database: &Database) {
    let target = format!("--target={}", database.url());
    dir.ok(&["tpch", "--sf=0.01", &target, "prepare"]);
}
