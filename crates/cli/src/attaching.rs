//! `import --series`: what another collector wrote beside a run comes into its record.

use crate::exit::{ExitCode, Failure};
use crate::render::{Format, render};
use crate::runs::{open, record_in, whole_id};
use crate::stdio::print;
use crate::texts::attach as texts;
use crate::{args, messages, user_files};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tidemark_core::record::{RunRecord, RunState};
use tidemark_core::series::Series;
use tidemark_core::{counted, printable, printable_lines, redact_text};
use tidemark_files::{LONGEST_CONFIGURATION, Replace, read, read_text, write};
use tidemark_import::series::{
    ColumnMapping, ReadSeries, ReadSeriesError, Remark, RemarkKind, RunWindow, read_series,
};
use tidemark_report::{Lang, significant};
use tidemark_store::Store;

/// The longest table: twenty days of a row a second have half of it.
const LONGEST_TABLE: u64 = 1 << 30;
/// Series that are printed; the others are counted.
const PRINTED: usize = 20;
/// Since this version a record may have series.
const VERSION_WITH_SERIES: u32 = 3;

/// Where the run is.
enum Home {
    File(PathBuf),
    Store(Box<Store>),
}

/// Attaches a table's series to a run.
///
/// # Errors
/// [`Failure`] of a mapping or a table that can't be read, or of which nothing is within the run.
pub fn attach(words: &args::Import, table: &Path) -> Result<ExitCode, Failure> {
    let (Some(map), Some(to)) = (&words.mapping, &words.to) else {
        return Err(Failure::usage(
            "--series needs --mapping=MAP.toml and --to=RUN; for example tidemark import --series \
             dstat.csv --mapping dstat.toml --to last",
        ));
    };
    let bad = |file: &Path, why: &dyn std::fmt::Display| {
        Failure::usage(format!("{}: {why}", file.display()))
    };
    let text = read_text(map, LONGEST_CONFIGURATION).map_err(|e| bad(map, &e))?;
    let mapping = ColumnMapping::parse(&text).map_err(|e| bad(map, &e))?;
    let (home, mut record) = find(words, to)?;
    let window = window(&record, words.run_start.as_deref())?;
    let bytes = read(table, LONGEST_TABLE).map_err(|e| bad(table, &e))?;
    let mut got = read_series(bytes.as_slice(), &mapping, &window)
        .map_err(|e| bad(table, &worded(&e, &window, map)))?;
    drop(bytes);
    got.series.iter_mut().for_each(without_passwords);
    let (series, said) = (std::mem::take(&mut got.series), said(&got, &window));
    let lang = words.lang;
    print(&printable_lines(&listed(table, &got, &series, &said, lang)));
    let id = record.id.clone();
    let count = series.len();
    let replaced = put(&mut record, series, &sources_of(table, map), &said);
    let replaced = match replaced {
        0 => String::new(),
        n => texts::replaced(lang, n),
    };
    if words.dry_run {
        print(&format!("{}\n", texts::would(lang, count, id, replaced)));
        return Ok(ExitCode::Success);
    }
    keep(home, record)?;
    let done = texts::done(lang, count, id, replaced, printable(to));
    print(&format!("{done}\n"));
    Ok(ExitCode::Success)
}

/// The run, and where it is.
fn find(words: &args::Import, to: &str) -> Result<(Home, RunRecord), Failure> {
    let file = Path::new(to);
    let (home, record) = if file.extension().is_some_and(|e| e == "json") || file.is_file() {
        (Home::File(file.into()), record_in(file)?)
    } else {
        let store = open(&words.store)?;
        let record = store.get(&whole_id(&store, to)?)?;
        (Home::Store(Box::new(store)), record)
    };
    match record.state {
        RunState::Running => Err(Failure::usage(format!(
            "--to={to}: run {} has no end record; attach series to a run that ended",
            record.id
        ))),
        _ => Ok((home, record)),
    }
}

/// Writes the record where it was: whole, or not at all.
fn keep(home: Home, mut record: RunRecord) -> Result<(), Failure> {
    match home {
        Home::File(file) => {
            let text = render(&record, Format::Json, Lang::En)?;
            let written = write(&file, text.as_bytes(), Replace::Anything);
            written.map_err(|e| user_files::failed(&file, &e))
        }
        Home::Store(mut store) => {
            // They are kept beside the record.
            record.tags.clear();
            record.note.clear();
            Ok(store.finish(&record)?)
        }
    }
}

/// When the run was. An imported one was at a time that its output does not tell.
fn window(record: &RunRecord, run_start: Option<&str>) -> Result<RunWindow, Failure> {
    let id = &record.id;
    let began: Timestamp = match (&record.imported, run_start) {
        (Some(_), None) => {
            return Err(Failure::usage(format!(
                "run {id} was imported, and its output does not say when it began; add --run-start, for \
                 example --run-start=2026-11-25T10:00:00+08:00"
            )));
        }
        (Some(_), Some(start)) => start.parse::<Timestamp>().map_err(|e| {
            Failure::usage(format!(
                "--run-start={start}: {e}; use a date and time with a zone, for example \
                 --run-start=2026-11-25T10:00:00+08:00"
            ))
        })?,
        (None, Some(start)) => {
            return Err(Failure::usage(format!(
                "--run-start={start} applies only to imported runs; run {id} says itself when it began: {}",
                record.started_at
            )));
        }
        (None, None) => {
            let said = record.load_began_at.as_ref().unwrap_or(&record.started_at);
            said.parse::<Timestamp>().map_err(|_| {
                Failure::usage(format!("run {id} has no valid time of its start: {said:?}"))
            })?
        }
    };
    let warm_up = record
        .intervals
        .first()
        .map(|i| i.start_ms.min(0) as f64 / -1000.0);
    let warm_up = warm_up.or(record.warmup_s.filter(|_| record.imported.is_none()));
    let warm_up = warm_up.unwrap_or_default();
    let imported = record.imported.as_ref();
    let ends = [
        record.totals.elapsed_s,
        record.watched_s.unwrap_or_default(),
        record
            .intervals
            .last()
            .map_or(0.0, |i| (i.start_ms as f64 + i.length_ms) / 1000.0),
        imported
            .and_then(|i| i.figure("elapsed_s"))
            .map_or(0.0, |figure| figure.value),
        imported
            .and_then(|i| i.intervals.last())
            .map_or(0.0, |interval| interval.end_s),
        record
            .queries
            .iter()
            .map(|q| (q.start_ms + q.took_ms) / 1000.0)
            .fold(0.0, f64::max),
    ];
    let length = ends
        .into_iter()
        .filter(|s| s.is_finite())
        .fold(0.0, f64::max);
    if length <= 0.0 {
        return Err(Failure::usage(format!(
            "run {id} does not say how long it was, so nothing can be attached to it"
        )));
    }
    let begin_ms = began.as_millisecond();
    let measured_ms = begin_ms.saturating_add((warm_up * 1000.0) as i64);
    Ok(RunWindow {
        begin_ms,
        measured_ms,
        end_ms: measured_ms.saturating_add((length * 1000.0).ceil() as i64),
    })
}

fn moment(ms: i64) -> String {
    match Timestamp::from_millisecond(ms) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{ms} ms since 1970"),
    }
}

fn of_run(window: &RunWindow) -> String {
    format!("{} to {}", moment(window.begin_ms), moment(window.end_ms))
}

/// Why nothing can be kept, with both ranges where they have nothing in common.
fn worded(error: &ReadSeriesError, window: &RunWindow, map: &Path) -> String {
    match error {
        ReadSeriesError::Outside {
            first_ms, last_ms, ..
        } => format!(
            "{error}: it has {} to {}, and the run was from {}; check format and zone in {}",
            moment(*first_ms),
            moment(*last_ms),
            of_run(window),
            map.display()
        ),
        ReadSeriesError::NoRows(_) | ReadSeriesError::Heading(_) => {
            format!("{error} ({})", map.display())
        }
        _ => error.to_string(),
    }
}

/// What was left out, a sentence each.
fn said(got: &ReadSeries, window: &RunWindow) -> Vec<String> {
    let outside = (got.outside > 0).then(|| {
        format!(
            "{} outside the run ({}) skipped",
            counted(got.outside, "row", "rows"),
            of_run(window)
        )
    });
    outside
        .into_iter()
        .chain(got.remarks.iter().map(remark))
        .collect()
}

fn remark(remark: &Remark) -> String {
    let (one, many, what) = match remark.kind {
        RemarkKind::NoTime => ("row", "rows", "without a valid time skipped"),
        RemarkKind::Short => ("row", "rows", "with too few columns skipped"),
        RemarkKind::Long => ("line", "lines", "of more than 512 KiB skipped"),
        RemarkKind::NoNumber => ("value", "values", "that cannot be kept as a number"),
        RemarkKind::Unsorted => ("row", "rows", "earlier than the row above, sorted"),
        RemarkKind::NoBegin => (
            "row",
            "rows",
            "skipped, whose interval began at an unknown time (the first, or after a pause)",
        ),
        RemarkKind::SameTime => (
            "value",
            "values",
            "of a time that had one; the first is kept",
        ),
    };
    let text = match remark.text.as_str() {
        "" => String::new(),
        text => format!(" {:?}", printable(text)),
    };
    let count = counted(remark.count, one, many);
    format!("{count} {what} (first: line {}{text})", remark.line)
}

fn listed(
    table: &Path,
    got: &ReadSeries,
    series: &[Series],
    said: &[String],
    lang: Lang,
) -> String {
    let mut text = texts::inside(lang, table.display(), got.inside, got.heading) + "\n";
    for one in series.iter().take(PRINTED) {
        let labels: Vec<&str> = one.key.labels.values().map(String::as_str).collect();
        let labels = match labels.is_empty() {
            true => String::new(),
            false => format!(" [{}]", labels.join(", ")),
        };
        let mean = one
            .summary()
            .ok()
            .flatten()
            .map_or(f64::NAN, |all| all.mean);
        let name = format!("{} {}{labels}", one.key.source, one.key.name);
        let mean = significant(mean);
        text += &(texts::series(lang, name, one.count, mean, &one.key.unit) + "\n");
    }
    if series.len() > PRINTED {
        text += &(texts::and_more(lang, series.len() - PRINTED) + "\n");
    }
    for sentence in said {
        text += &format!("{}\n", messages::reason(sentence, lang));
    }
    text
}

/// Names of the two files, without their folders.
fn sources_of(table: &Path, map: &Path) -> String {
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        redact_text(&name.to_string_lossy())
    };
    format!("{} by {}", name(table), name(map))
}

/// Puts series into the record, and a note of where they are from; how many they take the place of.
fn put(record: &mut RunRecord, series: Vec<Series>, from: &str, said: &[String]) -> usize {
    let before = record.series.len();
    // One whose unit was corrected is the same one.
    let is_other = |old: &Series, new: &Series| {
        let of = |one: &Series| {
            (
                one.key.source.clone(),
                one.key.name.clone(),
                one.key.labels.clone(),
            )
        };
        of(old) != of(new)
    };
    record
        .series
        .retain(|old| series.iter().all(|new| is_other(old, new)));
    let replaced = before - record.series.len();
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for one in &series {
        let (count, points) = counts.entry(one.key.source.as_str()).or_default();
        *count += 1;
        *points += one.count;
    }
    let beside: String = said
        .iter()
        .map(|s| format!("; {}", redact_text(s)))
        .collect();
    for (source, (count, points)) in counts {
        let begins = format!("series of {source}: ");
        record.notes.retain(|note| !note.starts_with(&begins));
        record.notes.push(format!(
            "{begins}{}, {} from {from}{beside}",
            counted(count, "series", "series"),
            counted(points, "point", "points")
        ));
    }
    record.series.extend(series);
    record.schema_version = record.schema_version.max(VERSION_WITH_SERIES);
    replaced
}

/// Names and labels may come from a command line that the collector saw.
fn without_passwords(series: &mut Series) {
    let key = &mut series.key;
    for text in [&mut key.source, &mut key.name, &mut key.unit] {
        *text = redact_text(text);
    }
    for value in key.labels.values_mut() {
        *value = redact_text(value);
    }
}
