//! A script with its options set.

use crate::Script;
use crate::file::{OF_JOBS, Origin};
use crate::sources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tidemark_core::{
    OptionKind, OptionValues, Protocol, Shard, Source, is_password_name, redact_target,
};
use tidemark_drivers::Connector;
use tidemark_workloads::random::RandOptions;

/// An option's value as a script sees it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OptionSeen {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<String>),
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A script with its options set: what each of its Lua states is made of.
#[derive(Debug)]
pub struct Program {
    /// Numbers programs within the process.
    pub(crate) id: usize,
    pub(crate) path: PathBuf,
    pub(crate) command: String,
    /// `sysbench.opt`, by names with underscores.
    pub(crate) options: BTreeMap<String, OptionSeen>,
    /// Globals of sysbench 0.5.
    pub(crate) globals: BTreeMap<String, String>,
    pub(crate) memory: usize,
    pub(crate) ffi: bool,
    pub(crate) rand: RandOptions,
    pub(crate) first_seed: u64,
    /// States made so far: each draws other numbers.
    pub(crate) states: AtomicU64,
    /// The next of the numbers that no other thread gets.
    pub(crate) unique: AtomicU64,
    /// Whether these come from the end.
    from_end: AtomicBool,
    pub(crate) origin: Origin,
    /// Files that were read as parts of the script.
    read: Mutex<BTreeSet<String>>,
    /// Which of several clients this is.
    shard: OnceLock<Shard>,
    connector: OnceLock<Connector>,
}

/// A state's memory while a script is only looked at.
const LOOKING: usize = 256 << 20;

impl Program {
    fn new(script: &Script, command: &str, options: &OptionValues) -> Self {
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            path: script.path().to_path_buf(),
            command: command.to_string(),
            options: BTreeMap::new(),
            globals: BTreeMap::new(),
            memory: LOOKING,
            ffi: false,
            rand: RandOptions::new(options),
            first_seed: 1,
            states: AtomicU64::new(0),
            unique: AtomicU64::new(0),
            from_end: AtomicBool::new(false),
            origin: script.origin().clone(),
            read: Mutex::default(),
            shard: OnceLock::new(),
            connector: OnceLock::new(),
        }
    }

    /// For reading what a script declares.
    pub(crate) fn reading(script: &Script, given: &[(String, String)], command: &str) -> Arc<Self> {
        let options = OptionValues::defaults([tidemark_workloads::random::RAND_OPTIONS]);
        let mut program = Self::new(script, command, &options);
        // It is the user's own choice already: without it a script that uses ffi can't be read.
        let is_asked = given.iter().any(|(name, value)| {
            name == "lua-ffi" && ["on", "1", "true", "yes"].contains(&&**value)
        });
        program.ffi = is_asked && !program.origin.is_confined;
        let global = |(name, value): &(String, String)| {
            (name.replace('-', "_"), without_password(name, value))
        };
        let is_open = |(name, _): &&(String, String)| !is_password_name(name);
        program.globals = given.iter().filter(is_open).map(global).collect();
        program.name_test();
        Arc::new(program)
    }

    /// A script with these options, for a command.
    pub fn of(script: &Script, command: &str, options: &OptionValues) -> Self {
        let mut program = Self::new(script, command, options);
        for spec in options.specs() {
            let name = spec.name.replace('-', "_");
            let text = &without_password(spec.name, options.text(spec.name));
            if spec.kind == OptionKind::Password
                || OF_JOBS.contains(&spec.name)
                || script.is_unset(spec.name) && options.source(spec.name) == Source::Default
            {
                continue;
            }
            if script.is_legacy() && options.source(spec.name) != Source::Default {
                program.globals.insert(name.clone(), text.to_string());
            }
            let is_own = || script.options().iter().any(|own| own.name == spec.name);
            let value = match spec.kind == OptionKind::List && is_own() {
                true => list(text),
                false => seen(spec.kind, text),
            };
            program.options.insert(name, value);
        }
        // The engine does it, between events.
        program
            .options
            .entry("reconnect".into())
            .and_modify(|v| *v = OptionSeen::Int(0));
        if script.is_legacy() {
            let threads = options.text("threads").to_string();
            program.globals.insert("num_threads".into(), threads);
            program
                .globals
                .entry("mysql_table_engine".into())
                .or_insert_with(|| "innodb".into());
        }
        program.name_test();
        program.memory = usize::try_from(options.uint("lua-memory")).unwrap_or(usize::MAX);
        program.ffi = options.flag("lua-ffi") && !program.origin.is_confined;
        // Equal commands make equal tables; a run has the seed of its sessions.
        program.first_seed = options.uint("rand-seed").max(1);
        program
    }

    /// sysbench 0.5's name for the script.
    fn name_test(&mut self) {
        let test = self.path.display().to_string();
        self.globals.insert("test".into(), test);
    }

    /// Several clients share the run, and this is one of them: threads and unique numbers are dealt.
    pub fn deal(&self, shard: Shard) {
        self.shard.get_or_init(|| shard);
    }

    /// This is the script's own thread of a run: what it draws as unique comes from the end, for what the
    /// threads draw, which are another program of the same command, comes from the begin.
    pub fn draws_from_the_end(&self) {
        self.from_end.store(true, Ordering::Relaxed);
    }

    /// The place of a unique number among so many.
    pub(crate) fn unique_place(&self, numbers: u64) -> u64 {
        let next = self.unique.fetch_add(1, Ordering::Relaxed);
        // No other client gets it.
        let next = self.shard().global(next) % numbers;
        match self.from_end.load(Ordering::Relaxed) {
            true => numbers - 1 - next,
            false => next,
        }
    }

    pub(crate) fn shard(&self) -> Shard {
        self.shard.get().copied().unwrap_or_default()
    }

    /// A file was read as a part of the script.
    pub(crate) fn has_read(&self, path: &str) {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.insert(path.to_string());
    }

    /// The files that were read.
    pub(crate) fn read_files(&self) -> BTreeSet<String> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.clone()
    }

    /// Tells how connections beside those of sessions are opened.
    pub fn connects_by(&self, connector: &Connector) {
        self.connector.get_or_init(|| connector.clone());
    }

    pub(crate) fn connector(&self) -> Option<&Connector> {
        self.connector.get()
    }

    /// sysbench's name of the driver.
    pub(crate) fn driver(&self) -> &'static str {
        match self.connector().map(|c| c.target().protocol) {
            Some(Protocol::Postgres) => "pgsql",
            Some(Protocol::Sqlite) => "sqlite",
            _ => "mysql",
        }
    }

    /// The script's path as text.
    pub(crate) fn script_text(&self) -> String {
        self.path.display().to_string()
    }

    /// Where `require` looks: beside the script, and where sysbench looks.
    pub(crate) fn search_path(&self) -> String {
        sources::search_path(&self.path)
    }
}

/// An option's value as scripts see it: a target's URL may hold a password.
fn without_password(name: &str, value: &str) -> String {
    match name {
        "target" => redact_target(value),
        _ => value.to_string(),
    }
}

/// A list that a script declares.
fn list(text: &str) -> OptionSeen {
    let words = text.split(',').map(str::trim);
    OptionSeen::List(
        words
            .filter(|word| !word.is_empty())
            .map(String::from)
            .collect(),
    )
}

fn seen(kind: OptionKind, text: &str) -> OptionSeen {
    let number = |text: &str| match text.parse::<i64>() {
        Ok(number) => OptionSeen::Int(number),
        Err(_) => text
            .parse()
            .map_or_else(|_| OptionSeen::Text(text.to_string()), OptionSeen::Float),
    };
    match kind {
        OptionKind::Bool => OptionSeen::Bool(text == "on"),
        OptionKind::Int { .. } | OptionKind::Float { .. } | OptionKind::Rates => number(text),
        // `--percentile=95` is a number to scripts, and may be several here.
        OptionKind::List => number(text),
        _ => OptionSeen::Text(text.to_string()),
    }
}
