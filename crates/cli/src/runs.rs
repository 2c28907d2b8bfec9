//! `workloads`, `runs`, `show`.

use crate::columns;
use crate::exchange::LONGEST_RECORD;
use crate::exit::{ExitCode, Failure};
use crate::frontend::summary_of;
use crate::render::{self, Format};
use crate::storing::store_path;
use crate::texts::runs as texts;
use crate::{args, diagnose, imported, run_selection};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, civil};
use std::path::Path;
use tidemark_core::record::{RateUnit, RunRecord};
use tidemark_core::{counted, printable, printable_lines};
use tidemark_files::read_text;
use tidemark_report::{Lang, significant, workload_name};
use tidemark_store::{Filter, ListedState, RunListing, StateWord, Store, StoreError, from_json};
use tidemark_workloads::{Definition, registry};

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::NoSuchRun { .. }
            | StoreError::Ambiguous { .. }
            | StoreError::NoSuchStudy { .. }
            | StoreError::StudyElsewhere { .. }
            | StoreError::BadTag { .. }
            | StoreError::Absent { .. } => ExitCode::Usage,
            StoreError::Damaged { .. } => ExitCode::Check,
            StoreError::Occupied { .. }
            | StoreError::Exists { .. }
            | StoreError::StudyGoesOn { .. }
            | StoreError::ServerTaken { .. } => ExitCode::Refused,
            _ => ExitCode::Failed,
        };
        Self::new(code, error.to_string())
    }
}

fn print(text: &str) -> Result<ExitCode, Failure> {
    crate::stdio::print(text);
    Ok(ExitCode::Success)
}

/// The store, unless none was made yet at the user's own place. One that is named is meant to be
/// there.
///
/// # Errors
/// [`Failure`] when a named one is not there, or it can't be read.
pub fn open_if_made(path: &Path, words: &args::StoreArg) -> Result<Option<Store>, Failure> {
    match Store::open_existing(path) {
        Err(StoreError::Absent { .. }) if words.store.is_none() => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// The store that is there.
///
/// # Errors
/// [`Failure`] when none is, or it can't be read.
pub fn open(store: &args::StoreArg) -> Result<Store, Failure> {
    Ok(Store::open_existing(&store_path(store.store.as_deref())?)?)
}

/// Lists the workloads.
pub fn workloads(lang: Lang) -> Result<ExitCode, Failure> {
    let width = registry().iter().map(|d| d.name.len()).max().unwrap_or(0);
    let summary = |d: &Definition| match lang {
        Lang::En => d.summary,
        Lang::Zh => summary_of(d.name).map_or(d.summary, |summary| summary(Lang::Zh)),
    };
    let lines: String = registry()
        .iter()
        .map(|d| format!("{:width$}  {}\n", d.name, summary(d)))
        .collect();
    print(&lines)
}

/// Lists the runs.
pub fn list(list: &args::List) -> Result<ExitCode, Failure> {
    let mut filter = filter(list)?;
    let path = store_path(list.store.store.as_deref())?;
    let lang = list.lang;
    let none = texts::none_yet(lang, printable(&path.display().to_string())) + "\n";
    let Some(store) = open_if_made(&path, &list.store)? else {
        return print(&none);
    };
    let study = list
        .study
        .as_deref()
        .map(|s| run_selection::study(&store, s));
    filter.study = study.transpose()?;
    let runs = store.list(&filter)?;
    let experiments = experiments(&store, &filter)?;
    if runs.is_empty() && (is_filtered(list) || experiments > 0) {
        print(&format!("{}\n", texts::none_matching(lang)))?;
        return Ok(hidden(lang, experiments));
    }
    if runs.is_empty() {
        return print(&none);
    }
    let shown = runs.len();
    let older = match shown < list.limit as usize {
        true => 0,
        false => store.count(&filter)?.saturating_sub(shown),
    };
    let tagged = runs.iter().any(|run| !run.tags.is_empty());
    let mut rows = vec![head(lang, tagged)];
    rows.extend(runs.iter().map(|run| row(lang, run)));
    let mut widths = COLUMNS;
    // What outputs that are cut are called takes more room.
    let states = columns::widest(rows.iter().map(|row| row[2].as_str()));
    widths[2].0 = widths[2].0.max(states);
    let text: String = rows.iter().map(|row| line(row, &widths)).collect();
    print(&text)?;
    // Beside the list, which programs read.
    if older > 0 {
        let all = shown.saturating_add(older);
        eprintln!("{}", texts::older(lang, older, all));
    }
    Ok(hidden(lang, experiments))
}

/// How many runs a filter leaves out because diagnoses made them.
fn experiments(store: &Store, filter: &Filter) -> Result<usize, Failure> {
    if !filter.no_experiments {
        return Ok(0);
    }
    let of = |no_experiments| {
        let filter = Filter {
            no_experiments,
            limit: None,
            ..filter.clone()
        };
        store.count(&filter)
    };
    Ok(of(false)?.saturating_sub(of(true)?))
}

/// Says beside the list how many runs of diagnoses are not in it.
fn hidden(lang: Lang, experiments: usize) -> ExitCode {
    if experiments > 0 {
        eprintln!("{}", texts::experiments(lang, experiments, diagnose::TAG));
    }
    ExitCode::Success
}

/// Columns but the last, with their least widths; numbers stand at the right.
const COLUMNS: [(usize, bool); 7] = [
    (36, false),
    (16, false),
    (11, false),
    (22, false),
    (8, true),
    (12, true),
    (10, true),
];

fn head(lang: Lang, tagged: bool) -> [String; 8] {
    let tags = match tagged {
        true => format!("  [{}]", texts::tags(lang)),
        false => String::new(),
    };
    [
        texts::id(lang).into(),
        texts::started(lang).into(),
        texts::state(lang).into(),
        texts::workload(lang).into(),
        texts::sessions(lang).into(),
        texts::rate(lang).into(),
        "p95 ms".into(),
        texts::target(lang).to_string() + &tags,
    ]
}

fn row(lang: Lang, run: &RunListing) -> [String; 8] {
    let tags = match run.tags.as_slice() {
        [] => String::new(),
        tags => format!("  [{}]", tags.join(", ")),
    };
    // What another tool did not state is not 0.
    let sessions = match run.sessions {
        0 => "-".into(),
        n => n.to_string(),
    };
    let rate = match run.is_watch {
        true => "-".into(),
        false => {
            let unit = match run.rate_unit {
                RateUnit::Transactions => "",
                RateUnit::Statements => " stmt/s",
                RateUnit::NewOrders => " NOPM",
            };
            format!("{:.2}{unit}", run.transactions_per_s())
        }
    };
    [
        run.id.clone(),
        minute(&run.started_at),
        state(lang, run).into(),
        workload_name(&run.workload, &|name| {
            run.options.get(name).map(|o| o.value.clone())
        }),
        sessions,
        rate,
        run.p95_ms.map_or("-".into(), significant),
        run.target.clone() + &tags,
    ]
}

fn line(row: &[String; 8], widths: &[(usize, bool); 7]) -> String {
    // Records come from elsewhere, too: nothing of theirs is obeyed by the terminal.
    let cells = row.each_ref().map(|cell| printable(cell));
    columns::row(&cells.each_ref().map(|cell| &**cell), widths) + "\n"
}

/// A run's state in a word or two; reports call it the same.
fn state(lang: Lang, run: &RunListing) -> &'static str {
    match run.state {
        ListedState::Running => texts::running(lang),
        ListedState::PerhapsRunning => texts::perhaps_running(lang),
        ListedState::Unfinished => texts::unfinished(lang),
        ListedState::Finished => texts::finished(lang),
        ListedState::Interrupted if run.is_cut_output() => texts::output_cut(lang),
        ListedState::Interrupted => texts::interrupted(lang),
        ListedState::Failed(_) => texts::failed(lang),
    }
}

/// A record's moment to the minute, for people.
pub fn minute(moment: &str) -> String {
    let minute: String = moment.chars().take(16).collect();
    minute.replace('T', " ")
}

fn is_filtered(list: &args::List) -> bool {
    let words = [
        &list.workload,
        &list.engine,
        &list.target,
        &list.state,
        &list.since,
        &list.until,
        &list.study,
    ];
    words.iter().any(|word| word.is_some()) || !list.tag.is_empty()
}

/// All that is asked for but the study, which only the store knows.
fn filter(list: &args::List) -> Result<Filter, Failure> {
    let state = list.state.as_ref().and_then(|asked| {
        let mut words = StateWord::ALL.into_iter();
        words.find(|(word, _)| word == asked).map(|(_, s)| s)
    });
    Ok(Filter {
        ids: None,
        workload: list.workload.clone(),
        engine: list.engine.clone(),
        study: None,
        no_experiments: list.study.is_none() && list.tag.is_empty(),
        tags: list.tag.clone(),
        state,
        target: list.target.clone(),
        since: moment("since", list.since.as_deref())?,
        until: moment("until", list.until.as_deref())?,
        limit: Some(list.limit),
        options_of: tidemark_report::told_by_options().collect(),
    })
}

/// A moment as records have it: from a date, a date and time of this place, either with a zone, or
/// how long ago.
fn moment(flag: &str, given: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(text) = given else {
        return Ok(None);
    };
    let zone = TimeZone::system();
    let ago = || {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let number: i64 = number.parse().ok().filter(|n| *n >= 0)?;
        let hours = match unit {
            "h" => number,
            "d" => number.checked_mul(24)?,
            "m" => return Timestamp::now().checked_sub(number.minutes()).ok(),
            _ => return None,
        };
        // A span of hours ends at some 20,000 years.
        let span = jiff::Span::new().try_hours(hours).ok()?;
        Timestamp::now().checked_sub(span).ok()
    };
    let local = || {
        let time: civil::DateTime = text.parse().ok()?;
        Some(time.to_zoned(zone.clone()).ok()?.timestamp())
    };
    let moment = ago().or_else(|| text.parse().ok()).or_else(local);
    let moment = moment.ok_or_else(|| {
        Failure::usage(format!(
            "--{flag}={text}: use a date, a date and time, or how long ago in m, h or d; for \
             example --{flag}=2026-11-20, --{flag}=2026-11-20T14:30 or --{flag}=3d"
        ))
    })?;
    Ok(Some(moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()))
}

fn find(store: &args::StoreArg, id: &str) -> Result<RunRecord, Failure> {
    let store = open(store)?;
    let id = whole_id(&store, id)?;
    Ok(store.get(&id)?)
}

/// What is said where no run was made here.
fn none_made(store: &Store) -> Failure {
    let imported = store.count(&Filter::default()).unwrap_or_default();
    Failure::usage(match imported {
        0 => "no runs yet; start with: tidemark demo".into(),
        _ => format!(
            "last is the latest run made with this store, but {} in it; use an id that tidemark \
             runs lists",
            counted(
                imported as u64,
                "imported run is all there is",
                "imported runs are all there is"
            )
        ),
    })
}

/// The id meant: `last` is that of the run made last in this store.
///
/// # Errors
/// [`Failure`] when there is no run.
pub fn whole_id(store: &Store, id: &str) -> Result<String, Failure> {
    match id {
        "last" => store.latest()?.ok_or_else(|| none_made(store)),
        id => Ok(id.into()),
    }
}

/// Prints one run.
pub fn show(show: &args::Show) -> Result<ExitCode, Failure> {
    let store = open(&show.store)?;
    let record = store.get(&whole_id(&store, &show.id)?)?;
    if show.json {
        return print(&render::render(&record, Format::Json, show.lang)?);
    }
    let text = render::render(&record, Format::Text, show.lang)?;
    print(&printable_lines(&text))
}

/// The record that a word names: a file written by `--out`, or a run of the store.
///
/// # Errors
/// [`Failure`] when there is none, or it can't be read.
pub fn record_of(store: &args::StoreArg, name: &str) -> Result<RunRecord, Failure> {
    let file = Path::new(name);
    if !(file.extension().is_some_and(|e| e == "json") || file.is_file()) {
        return find(store, name);
    }
    record_in(file)
}

/// The record in a file written by `--out`, wherever that was: no password in it is told.
///
/// # Errors
/// [`Failure`] when it can't be read.
pub fn record_in(file: &Path) -> Result<RunRecord, Failure> {
    let shown = file.display();
    let text =
        read_text(file, LONGEST_RECORD).map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
    let record = from_json(&text).map_err(|e| Failure::usage(format!("{shown}: {e}")))?;
    imported::without_passwords(record).map_err(|e| Failure::usage(format!("{shown}: {e}")))
}
