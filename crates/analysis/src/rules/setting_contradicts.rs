//! What is said of a run, and its record denies: settings of the server (`sync_binlog=0`), modes
//! (`optimistic`) and sessions (`threads=64`) in tags, in the note and in the factors of a study; a size
//! that the server's own counters exceed.

use crate::notation::canonical;
use crate::observed::series;
use crate::run::Run;
use crate::texts::setting_contradicts as text;
use crate::thresholds::SETTING_APART;
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use tidemark_core::observe::SERVER_STATUS;
use tidemark_core::{Engine, Protocol};

/// Modes that exclude each other, by the words that settings and titles have for them: how TiDB prunes
/// partitions, and how it locks rows.
const MODES: [[[&str; 2]; 2]; 2] = [
    [["static", "静态"], ["dynamic", "动态"]],
    [["optimistic", "乐观"], ["pessimistic", "悲观"]],
];
/// InnoDB's pages where nothing states their size (MySQL 8.4 manual: `innodb_page_size`).
const PAGE_BYTES: f64 = 16_384.0;

const MIB: f64 = 1_048_576.0;

const TRUTH: [&str; 6] = ["on", "off", "true", "false", "yes", "no"];

pub(super) const ID: &str = "setting-contradicts";

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let record = run.record;
    let factors = record.study.iter().flat_map(|s| &s.factors);
    let factors = factors.map(|(name, value)| (text::FACTOR, format!("{name}={value}")));
    let tags = record.tags.iter().map(|tag| (text::TAG, tag.clone()));
    let note = std::iter::once((text::NOTE, record.note.clone()));
    let said = tags.chain(note).chain(factors);
    let said: Vec<(Both, String)> = said.collect();
    let of_words = said.iter().find_map(|(place, words)| {
        // A note may speak of other runs as well.
        let severity = match *place == text::NOTE {
            true => Severity::Note,
            false => Severity::Suspect,
        };
        let of_values = assignments(words)
            .find_map(|(name, value)| denied(run, *place, severity, &name, value));
        of_values.or_else(|| other_mode(run, *place, severity, words))
    });
    Ok(of_words.or_else(|| exceeded(run)))
}

/// A word that names one mode, where settings by name and value name the other alone: the word, and the
/// first of those settings.
pub(super) fn denied_mode<'v>(
    words: &str,
    values: impl Iterator<Item = (&'v str, &'v str)>,
) -> Option<(&'static str, (&'v str, &'v str))> {
    let words = words.to_ascii_lowercase();
    let has = |[word, chinese]: [&str; 2]| {
        let mut all = words.split(|c: char| !c.is_ascii_alphanumeric());
        all.any(|w| w == word) || words.contains(chinese)
    };
    let modes: Vec<(&str, &str)> = values.filter(|(name, _)| name.ends_with("_mode")).collect();
    MODES.into_iter().find_map(|[one, other]| {
        // Who names both compares them.
        let (said, denied) = match (has(one), has(other)) {
            (true, false) => (one[0], other[0]),
            (false, true) => (other[0], one[0]),
            _ => return None,
        };
        let with = |mode: &str| modes.iter().find(|(_, v)| v.eq_ignore_ascii_case(mode));
        let first = with(denied).filter(|_| with(said).is_none())?;
        Some((said, *first))
    })
}

fn other_mode(run: &Run<'_>, place: Both, severity: Severity, words: &str) -> Option<Finding> {
    let settings = run.record.settings.iter();
    let values = settings.map(|s| (s.name.as_str(), s.value.as_str()));
    let (said, (name, stated)) = denied_mode(words, values)?;
    Some(contradicted(place, severity, name, said, stated.into()))
}

/// A setting that `place` has another value of than the run's record.
fn contradicted(
    place: Both,
    severity: Severity,
    name: &str,
    said: &str,
    stated: String,
) -> Finding {
    Finding {
        rule: ID,
        severity,
        says: text::OWN,
        instead: text::OWN_INSTEAD,
        figures: vec![
            ("place", Figure::Words(place)),
            ("name", Figure::Text(name.into())),
            ("said", Figure::Text(said.into())),
            ("stated", Figure::Text(stated)),
        ],
    }
}

/// More changed pages than the buffer that the settings state has room for: they are of another server,
/// or of another start of it.
fn exceeded(run: &Run<'_>) -> Option<Finding> {
    const BUFFER: &str = "innodb_buffer_pool_size";
    let record = run.record;
    let setting = |name: &str| record.settings.iter().find(|s| s.name == name);
    let said = setting(BUFFER)?;
    let (bytes, _) = amount(&said.value)?;
    let page = setting("innodb_page_size").and_then(|s| amount(&s.value));
    let page = page.map_or(PAGE_BYTES, |(bytes, _)| bytes);
    let mut most = 0.0f64;
    for pages in series(record, SERVER_STATUS, "buffer.dirty") {
        let points = pages.points().ok()?;
        most = points.flatten().map(|p| p.value).fold(most, f64::max);
    }
    let seen = most * page;
    (bytes > 0.0 && seen > bytes).then(|| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: text::COUNTERS,
        instead: text::COUNTERS_INSTEAD,
        figures: vec![
            ("name", Figure::Text(BUFFER.into())),
            ("said", Figure::Text(said.value.clone())),
            ("mib", Figure::Number(bytes / MIB)),
            ("seen", Figure::Number(seen / MIB)),
        ],
    })
}

/// `name=value`, as files of settings and command lines have it.
fn assignments(words: &str) -> impl Iterator<Item = (String, &str)> {
    let is_between = |c: char| c.is_whitespace() || ",;，；、()（）".contains(c);
    words.split(is_between).filter_map(|word| {
        let (name, value) = word.trim_start_matches('-').split_once('=')?;
        let is_value = !value.is_empty() && !value.contains('=');
        is_value.then(|| (name.replace('-', "_").to_ascii_lowercase(), value))
    })
}

fn denied(
    run: &Run<'_>,
    place: Both,
    severity: Severity,
    name: &str,
    said: &str,
) -> Option<Finding> {
    let record = run.record;
    let stated = match name {
        // A study's threads are what it asks of each run.
        "threads" | "sessions" if place != text::FACTOR => {
            let said: usize = said.parse().ok()?;
            let load = record.job.as_ref().map(|job| &job.load);
            let whole = load.is_some_and(|load| load.sessions == said || load.terminals == said);
            let own = [record.sessions, run.sessions(), run.users()];
            let is_denied = !whole && !own.contains(&said);
            is_denied.then(|| run.users().to_string())?
        }
        _ => {
            let engine = record.server.as_ref()?.engine;
            let setting = record.settings.iter().find(|s| s.name == name)?;
            let differs = differ(engine, name, said, &setting.value);
            differs.then(|| setting.value.clone())?
        }
    };
    Some(contradicted(place, severity, name, said, stated))
}

/// Whether two values of a setting are two to the server.
fn differ(engine: Engine, name: &str, said: &str, stated: &str) -> bool {
    let protocol = engine.protocol();
    match (amount(said), amount(stated)) {
        // SQLite tells words as numbers.
        _ if protocol == Protocol::Sqlite => false,
        // A word may be a label.
        (None, _) if !TRUTH.contains(&&*said.to_ascii_lowercase()) => false,
        (None, Some((number, _))) => (canonical(engine, name, said) == "on") != (number > 0.0),
        (Some((a, with_unit)), Some((b, other))) if with_unit || other => {
            // A number alone has the setting's own unit in PostgreSQL, and is of bytes in MySQL.
            let is_known = protocol != Protocol::Postgres || with_unit == other;
            is_known && a.max(b) > 0.0 && a.max(b) >= SETTING_APART * a.min(b)
        }
        _ => {
            let one = |value: &str| canonical(engine, name, value).to_ascii_lowercase();
            one(said) != one(stated)
        }
    }
}

/// `4G`, `128MB`: bytes, and whether it has a unit.
fn amount(value: &str) -> Option<(f64, bool)> {
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let number: f64 = value.get(..digits)?.parse().ok()?;
    let unit = value.get(digits..)?.to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some((number * 1024f64.powi(power), !unit.is_empty()))
}
