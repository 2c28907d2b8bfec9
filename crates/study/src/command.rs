//! The command lines that load data and make runs, as a user would type them.

use crate::file::{During, Price, Reload, Setting, Study};
use crate::matrix::Cell;
use crate::{Existing, Family};
use std::time::Duration;
use tidemark_workloads::Word;

/// What a command does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Makes and fills tables.
    Load,
    /// Measures.
    Run,
}

/// What is known of the commands: their options, and whether a command line is right.
pub trait Commands {
    /// Whether a family's command has the option.
    fn takes(&self, family: &Family, phase: Phase, option: &str) -> bool;
    /// Whether the option says what the data are.
    fn shapes(&self, family: &Family, option: &str) -> bool;
    /// Whether the option is given as `-p name=value`.
    fn is_property(&self, family: &Family, option: &str) -> bool;
    /// Whether the words after `tidemark` are a right command line.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, words: &[String]) -> Result<(), String>;
}

/// Why an option can't be given in `options`: the study gives it.
pub(crate) fn is_reserved(option: &str) -> Option<&'static str> {
    const RESERVED: &[(&[&str], &str)] = &[
        (
            &[
                "password",
                "mysql-password",
                "pgsql-password",
                "mysql.password",
                "pg.password",
            ],
            "a [[target]] says it, as password = \"env:DB_PASSWORD\"",
        ),
        (
            &[
                "target",
                "targets",
                "host",
                "port",
                "user",
                "db",
                "driver",
                "db-driver",
                "conn-params",
                "config-file",
            ],
            "a [[target]]'s url says where the database is",
        ),
        (
            &["threads", "terminals", "threadcount", "connections", "rate"],
            "[load] says it, as threads = [8, 16]",
        ),
        (
            &["time", "maxexecutiontime"],
            "time of the study or the workload says it",
        ),
        (
            &["warmup", "warmup-time", "warmuptime"],
            "warmup of the study or the workload says it",
        ),
        (
            &["store", "out", "report", "overwrite", "lang"],
            "results are kept in the store, and tidemark report writes them",
        ),
        (
            &["replace", "force", "dropdata", "keep-loaded"],
            "reload and existing say what becomes of tables",
        ),
        (&["set-session"], "session = { … } says it"),
        (
            &["inject-rtt"],
            "a factor's values have inject-rtt of their own",
        ),
        (&["price"], "price of the study says it"),
        (&["print-job"], "tidemark study plan shows every run"),
    ];
    let name = option.replace('_', "-");
    let connects = [
        "mysql-host",
        "mysql-port",
        "mysql-socket",
        "mysql-user",
        "mysql-db",
    ];
    let also = [
        "pgsql-host",
        "pgsql-port",
        "pgsql-user",
        "pgsql-db",
        "sqlite-db",
    ];
    if connects.contains(&name.as_str()) || also.contains(&name.as_str()) {
        return Some("a [[target]]'s url says where the database is");
    }
    let found = RESERVED
        .iter()
        .find(|(names, _)| names.contains(&name.as_str()));
    found.map(|(_, instead)| *instead)
}

/// Options that only a load has a use for, though a run's command takes them, too.
const OF_LOADS: &[&str] = &["load-method", "chunk-rows", "batch-size", "no-check"];

/// A command, word by word, with the line of the file that each option stands in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Words {
    pub words: Vec<String>,
    /// First word of an option, how many it has, and its line.
    pub origins: Vec<(usize, usize, usize)>,
}

impl Words {
    fn plain(&mut self, word: impl Into<String>) {
        self.words.push(word.into());
    }

    fn option(&mut self, option: &Setting, as_property: bool) {
        let first = self.words.len();
        let said = format!("{}={}", option.name, option.value);
        if as_property {
            self.words.extend(["-p".into(), said]);
        } else {
            self.words.push(format!("--{said}"));
        }
        self.origins
            .push((first, self.words.len() - first, option.line));
    }

    /// Without the option that is the `n`-th of the file's.
    pub fn without(&self, n: usize) -> Vec<String> {
        let (first, count, _) = self.origins[n];
        let keeps = |(at, _): &(usize, &String)| !(first..first + count).contains(at);
        let kept = self.words.iter().enumerate().filter(keeps);
        kept.map(|(_, word)| word.clone()).collect()
    }
}

/// The options of a cell: a factor's win over the workload's, a later factor's over an earlier's.
pub(crate) fn options_of<'c>(cell: &'c Cell<'_>) -> Vec<&'c Setting> {
    let mut found: Vec<&Setting> = Vec::new();
    let of_values = cell.values.iter().flat_map(|(_, v)| &v.options);
    for option in cell.workload.options.iter().chain(of_values) {
        let same = |o: &&Setting| o.name.replace('_', "-") == option.name.replace('_', "-");
        match found.iter().position(same) {
            Some(at) => found[at] = option,
            None => found.push(option),
        }
    }
    found
}

/// Settings of sessions in a phase.
pub(crate) fn session_of<'c>(
    study: &'c Study,
    cell: &'c Cell<'_>,
    phase: Phase,
) -> Vec<&'c Setting> {
    let of_target = cell.target.and_then(|t| study.targets.get(t));
    let mut found: Vec<&Setting> = of_target.map_or(&[][..], |t| &t.session).iter().collect();
    if phase == Phase::Run {
        found.extend(&cell.workload.session);
    }
    for (factor, value) in &cell.values {
        if holds(factor.during, phase) {
            found.extend(&value.session);
        }
    }
    found
}

/// Settings of the server in a phase.
pub(crate) fn global_of<'c>(cell: &'c Cell<'_>, phase: Phase) -> Vec<&'c Setting> {
    let held = cell.values.iter().filter(|(f, _)| holds(f.during, phase));
    held.flat_map(|(_, v)| &v.set_global).collect()
}

fn rtt_of<'c>(cell: &'c Cell<'_>, phase: Phase) -> Option<&'c str> {
    let held = cell.values.iter().filter(|(f, _)| holds(f.during, phase));
    held.filter_map(|(_, v)| v.inject_rtt.as_deref())
        .next_back()
}

fn holds(during: During, phase: Phase) -> bool {
    match during {
        During::Both => true,
        During::Load => phase == Phase::Load,
        During::Run => phase == Phase::Run,
    }
}

/// A time as command lines take it.
pub(crate) fn time_word(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{}s", time.as_secs())
    } else {
        format!("{}us", time.as_micros())
    }
}

/// The options that a cell's load is given.
pub(crate) fn load_options<'c>(cell: &'c Cell<'_>, commands: &dyn Commands) -> Vec<&'c Setting> {
    let family = cell.workload.family;
    let mut options = options_of(cell);
    options.retain(|o| {
        let name = o.name.replace('_', "-");
        commands.takes(family, Phase::Load, &name)
            && (commands.shapes(family, &name)
                || OF_LOADS.contains(&name.as_str())
                || !commands.takes(family, Phase::Run, &name))
    });
    options
}

/// The command that loads a cell's data. Only a file that gives tables away replaces any but the
/// study's own, which the load tells by what is in the database.
pub(crate) fn load_words(
    study: &Study,
    cell: &Cell<'_>,
    url: &str,
    commands: &dyn Commands,
) -> Words {
    let family = cell.workload.family;
    let mut words = begin(cell, Phase::Load, url);
    for option in load_options(cell, commands) {
        words.option(option, commands.is_property(family, &option.name));
    }
    let threads = match bulk_threads(cell) {
        Some(threads) => threads,
        None => u64::from(study.load_threads),
    };
    words.plain(format!("--threads={threads}"));
    conditions(&mut words, study, cell, Phase::Load);
    if study.reload == Reload::Never {
        words.plain("--keep-loaded");
    }
    if study.existing == Existing::Replace {
        words.plain("--replace");
    }
    end(&mut words, cell, Phase::Load);
    words
}

/// `bulk_insert` has a table for each of its sessions.
pub(crate) fn bulk_threads(cell: &Cell<'_>) -> Option<u64> {
    (cell.workload.name == "bulk_insert").then_some(cell.level.threads)
}

/// The command that makes a cell's run.
pub(crate) fn run_words(
    study: &Study,
    cell: &Cell<'_>,
    url: &str,
    commands: &dyn Commands,
) -> Words {
    let family = cell.workload.family;
    let mut words = begin(cell, Phase::Run, url);
    let options = options_of(cell);
    let unsaid = |(name, _): &&(&str, &str)| options.iter().all(|o| o.name != *name);
    for (name, value) in family.command.run_options.iter().filter(unsaid) {
        match commands.is_property(family, name) {
            true => words.words.extend(["-p".into(), format!("{name}={value}")]),
            false => words.plain(format!("--{name}={value}")),
        }
    }
    for option in &options {
        let name = option.name.replace('_', "-");
        let loads = commands.takes(family, Phase::Load, &name);
        // What no command knows stands here, to be refused with the nearest that is known.
        let runs = commands.takes(family, Phase::Run, &name) || !loads;
        if runs && !OF_LOADS.contains(&name.as_str()) {
            words.option(option, commands.is_property(family, &option.name));
        }
    }
    words.plain(format!("--threads={}", cell.level.threads));
    if let Some(rate) = cell.level.rate {
        words.plain(format!("--rate={rate}"));
    }
    if let Some(connections) = cell.level.connections {
        words.plain(format!("--connections={connections}"));
    }
    let searches = options
        .iter()
        .any(|o| o.name.replace('_', "-") == "find-max");
    lengths(&mut words, study, cell, searches);
    if family.command.takes_price
        && let Some(Price { total, currency }) = &study.price
    {
        words.plain(format!("--price={total} {currency}"));
    }
    conditions(&mut words, study, cell, Phase::Run);
    end(&mut words, cell, Phase::Run);
    words
}

/// Warm-up and time, in each family's words; searches set their length themselves, and so do runs that
/// end by themselves.
fn lengths(words: &mut Words, study: &Study, cell: &Cell<'_>, searches: bool) {
    let workload = cell.workload;
    let warmup = workload.warmup.unwrap_or(study.warmup);
    let time = workload.time.unwrap_or(study.time);
    let command = &workload.family.command;
    let word = |time: Duration| match command.whole_seconds {
        true => time.as_secs().to_string(),
        false => time_word(time),
    };
    if workload.family.runs.are_queries() {
        if let Some(time) = workload.time {
            words.plain(format!("--time={}", word(time)));
        }
        return;
    }
    if !searches {
        words.plain(format!("--time={}", word(time)));
    }
    if !warmup.is_zero() {
        words.plain(format!("--{}={}", command.warmup, word(warmup)));
    }
}

/// Distance and settings of sessions.
fn conditions(words: &mut Words, study: &Study, cell: &Cell<'_>, phase: Phase) {
    if let Some(rtt) = rtt_of(cell, phase) {
        words.plain(format!("--inject-rtt={rtt}"));
    }
    let session: Vec<String> = session_of(study, cell, phase)
        .iter()
        .map(|s| format!("{}={}", s.name, s.value))
        .collect();
    if !session.is_empty() {
        words.plain(format!("--set-session={}", session.join(";")));
    }
}

/// The words before the options.
fn begin(cell: &Cell<'_>, phase: Phase, url: &str) -> Words {
    let mut words = Words::default();
    words.plain("tidemark");
    words.plain(cell.workload.family.command.word);
    let order = cell.workload.family.command.order.iter();
    for word in order.take_while(|word| **word != Word::Options) {
        place(&mut words, *word, cell, phase, url);
    }
    words
}

/// The words behind the options.
fn end(words: &mut Words, cell: &Cell<'_>, phase: Phase) {
    let order = cell.workload.family.command.order.iter();
    for word in order.skip_while(|word| **word != Word::Options).skip(1) {
        place(words, *word, cell, phase, "");
    }
}

fn place(words: &mut Words, word: Word, cell: &Cell<'_>, phase: Phase, url: &str) {
    let command = &cell.workload.family.command;
    match (word, phase) {
        (Word::Name, _) => words.plain(&cell.workload.name),
        (Word::Target, _) => words.plain(format!("--target={url}")),
        (Word::Command, Phase::Load) => words.plain(command.load),
        (Word::Command, Phase::Run) => words.plain(command.run),
        (Word::Plain(word), _) => words.plain(word),
        (Word::Options, _) => {}
    }
}
