//! `export` and `import`: runs leave a store and come into another.

use crate::exit::{ExitCode, Failure};
use crate::runs::open;
use crate::stdio::{print, print_data};
use crate::storing::store_path;
use crate::texts::{documents as texts, progress as progress_texts};
use crate::{args, attaching, documents, imported, importing, progress, run_selection, user_files};
use jiff::Timestamp;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tidemark_core::record::RunRecord;
use tidemark_core::{counted, printable};
use tidemark_files::{Replace, permitted, read_text, write};
use tidemark_store::{Store, StoreError, check_id, from_json, to_json};

/// The longest file that is read as a record: ten days of intervals of a second have a tenth of it.
pub const LONGEST_RECORD: u64 = 4 << 30;

/// The format of whole records.
const WHOLE: &str = "json";

/// The formats of files by their ending; the first is meant where nobody says another.
const BY_ENDING: [(&str, &[&str]); 5] = [
    ("json", &[WHOLE]),
    ("csv", &["csv", "series", "clients"]),
    ("parquet", &["parquet", "series-parquet"]),
    ("hlog", &["hdr"]),
    ("hdr", &["hdr"]),
];

/// Endings of reports.
const OF_REPORTS: [&str; 3] = ["html", "htm", "md"];

/// Writes runs to files, or prints one.
pub fn export(words: &args::Export) -> Result<ExitCode, Failure> {
    let store = open(&words.store)?;
    let ids = run_selection::ids(&store, &words.runs)?;
    let Some(out) = &words.out else {
        let [id] = ids.as_slice() else {
            return Err(Failure::usage(format!(
                "{} runs need a folder; for example -o runs/",
                ids.len()
            )));
        };
        let format = words.format.as_deref().unwrap_or(WHOLE);
        if matches!(format, "parquet" | "series-parquet") {
            return Err(Failure::usage(format!(
                "--format {format} is binary and needs a file; for example -o run.parquet"
            )));
        }
        print_data(&String::from_utf8_lossy(&exported(&store, id, format)?));
        return Ok(ExitCode::Success);
    };
    let into = ExportPath::of(out, &ids)?;
    let format = into.format(words.format.as_deref())?;
    let files: Vec<PathBuf> = ids.iter().map(|id| into.file(id, format)).collect();
    let replace = match words.overwrite {
        true => Replace::Anything,
        false => Replace::Nothing,
    };
    let into_folder = matches!(into, ExportPath::Folder(_));
    // Before the first is written.
    for file in files
        .iter()
        .filter(|f| !into_folder || f.symlink_metadata().is_ok())
    {
        permitted(file, replace).map_err(|e| user_files::failed(file, &e))?;
    }
    into.make()?;
    let bar = progress::bar(
        ids.len() as u64,
        progress_texts::runs(words.lang),
        words.lang,
    );
    for (id, file) in ids.iter().zip(&files) {
        let content = exported(&store, id, format)?;
        write(file, &content, replace).map_err(|e| user_files::failed(file, &e))?;
        bar.suspend(|| print(&format!("{}\n", file.display())));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(ExitCode::Success)
}

/// Where files go.
enum ExportPath {
    File(PathBuf),
    Folder(PathBuf),
}

impl ExportPath {
    fn of(out: &Path, ids: &[String]) -> Result<Self, Failure> {
        // A path that ends in a slash means a folder, whether or not it is there.
        let named_folder = out.as_os_str().to_string_lossy().ends_with('/');
        if out.is_dir() || named_folder || ids.len() > 1 {
            if out.exists() && !out.is_dir() {
                return Err(Failure::usage(format!(
                    "-o {}: {} a folder, but this is a file; for example -o runs/",
                    out.display(),
                    counted(ids.len() as u64, "run needs", "runs need")
                )));
            }
            if !out.is_dir() && !named_folder && is_named_as_a_file(out) {
                return Err(Failure::usage(format!(
                    "-o {}: {} a folder, not a file; for example -o {}/",
                    out.display(),
                    counted(ids.len() as u64, "run needs", "runs need"),
                    out.with_extension("").display()
                )));
            }
            return Ok(ExportPath::Folder(out.into()));
        }
        Ok(ExportPath::File(out.into()))
    }

    /// The format that is asked for, or that a file's ending says. Files of a folder get the ending of
    /// theirs.
    fn format<'w>(&self, asked: Option<&'w str>) -> Result<&'w str, Failure> {
        match self {
            ExportPath::File(file) => format_of(file, asked),
            ExportPath::Folder(_) => Ok(asked.unwrap_or(WHOLE)),
        }
    }

    fn file(&self, id: &str, format: &str) -> PathBuf {
        let ending = match format {
            "hdr" => "hlog",
            "clients" => "clients.csv",
            "series" => "series.csv",
            "series-parquet" => "series.parquet",
            other => other,
        };
        match self {
            ExportPath::File(file) => file.clone(),
            ExportPath::Folder(folder) => folder.join(format!("{}.{ending}", file_name(id))),
        }
    }

    fn make(&self) -> Result<(), Failure> {
        match self {
            ExportPath::File(_) => Ok(()),
            ExportPath::Folder(folder) => fs::create_dir_all(folder).map_err(|e| {
                let shown = folder.display();
                Failure::new(ExitCode::Failed, format!("{shown}: cannot be created: {e}"))
            }),
        }
    }
}

/// The format of a file, which its ending must not contradict.
fn format_of<'w>(file: &Path, asked: Option<&'w str>) -> Result<&'w str, Failure> {
    let shown = file.display();
    let ending = lower_ending(file);
    if OF_REPORTS.contains(&ending.as_str()) {
        return Err(Failure::usage(format!(
            "-o {shown}: export writes data, not reports; for example: tidemark report last --out {shown}"
        )));
    }
    let known = BY_ENDING.iter().find(|(of, _)| *of == ending);
    match (known, asked) {
        (None, _) => Ok(asked.unwrap_or(WHOLE)),
        // `run.series.csv` is how this tool calls it.
        (Some((_, formats)), None) => {
            let inner = file.file_stem().map(Path::new).map(lower_ending);
            let says = |format: &&&str| {
                let inner = inner.as_deref().unwrap_or_default();
                **format == inner || **format == format!("{inner}-{ending}")
            };
            let format = formats.iter().find(says).or(formats.first());
            Ok(format.copied().unwrap_or(WHOLE))
        }
        (Some((_, formats)), Some(asked)) if formats.contains(&asked) => Ok(asked),
        (Some((_, formats)), Some(asked)) => {
            let other = file.with_extension(ending_of(asked));
            Err(Failure::usage(format!(
                "-o {shown}: files that end in .{ending} are of --format {}, not {asked}; for example -o {}",
                formats.join(" or "),
                other.display()
            )))
        }
    }
}

/// What is behind the last dot of a format's files.
fn ending_of(format: &str) -> &str {
    let of = BY_ENDING
        .iter()
        .find(|(_, formats)| formats.contains(&format));
    of.map_or(format, |(ending, _)| *ending)
}

fn lower_ending(path: &Path) -> String {
    let ending = path.extension().unwrap_or_default();
    ending.to_string_lossy().to_lowercase()
}

/// Whether a path ends as files of data do: nobody means a folder.
fn is_named_as_a_file(path: &Path) -> bool {
    FILE_ENDINGS.contains(&lower_ending(path).as_str())
}

/// What is behind the last dot of their names.
const FILE_ENDINGS: [&str; 7] = ["json", "csv", "parquet", "hlog", "hdr", "txt", "gz"];

/// Ids of ours are plain; one that is not shall lead to no other folder.
fn file_name(id: &str) -> String {
    match check_id(id) {
        Ok(()) => id.into(),
        Err(_) => id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect(),
    }
}

fn exported(store: &Store, id: &str, format: &str) -> Result<Vec<u8>, Failure> {
    let failed = |e: &dyn std::fmt::Display| {
        Failure::new(ExitCode::Failed, format!("run {}: {e}", printable(id)))
    };
    let record = store.get(id)?;
    if record.is_watch() && !matches!(format, "json" | "series" | "series-parquet") {
        return Err(Failure::usage(format!(
            "run {id} is a watch, with no load of its own: it has no intervals for --format {format}; use \
             --format json or series"
        )));
    }
    let since = measured_since(&record);
    let text = match format {
        "csv" => tidemark_report::interval_table(&record).map_err(|e| failed(&e)),
        "series" => tidemark_report::series_table(&record).map_err(|e| failed(&e)),
        "series-parquet" => {
            return tidemark_report::series_parquet(&record, since).map_err(|e| failed(&e));
        }
        "clients" => tidemark_report::client_table(&record).map_err(|e| failed(&e)),
        "hdr" => {
            let since = since.unwrap_or_default();
            tidemark_report::interval_log(&record, since).map_err(|e| failed(&e))
        }
        "parquet" => {
            return tidemark_report::interval_parquet(&record, since).map_err(|e| failed(&e));
        }
        _ => to_json(&record).map_err(|e| failed(&e)),
    };
    text.map(String::into_bytes)
}

/// When the measurement began, since 1970: a load begins with its warm-up. Of a record that does not
/// say when its load began, when the run did, which opened its sessions first. `None` where a record
/// from elsewhere tells no time.
fn measured_since(record: &RunRecord) -> Option<Duration> {
    let began = record.load_began_at.as_ref().unwrap_or(&record.started_at);
    let started: Timestamp = began.parse().ok()?;
    let warm_up = record
        .intervals
        .first()
        .map_or(0, |i| i.start_ms.min(0).saturating_neg());
    let began = started.as_millisecond().checked_add(warm_up)?;
    u64::try_from(began).ok().map(Duration::from_millis)
}

/// Takes records and documents into the store: whichever of them it can, the others are told.
pub fn import(words: &args::Import) -> Result<ExitCode, Failure> {
    if let Some(table) = &words.series {
        return attaching::attach(words, table);
    }
    let files = documents::files(&words.files)?;
    let (records, texts): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|f| documents::is_record(f));
    if let (true, Some(record)) = (texts.is_empty(), records.first()) {
        if let Some(out) = words.report.first() {
            let (out, record) = (out.display(), record.display());
            return Err(Failure::usage(format!(
                "--report={out}: only for outputs of other tools, and these are records; for example: \
                 tidemark report {record} --out {out}"
            )));
        }
        return import_records(words, &records);
    }
    // A file that is neither must not keep the others out.
    let taken = importing::import(words, &texts);
    if records.is_empty() {
        return taken;
    }
    let of_records = import_records(words, &records);
    match (taken, of_records) {
        (Err(failure), Err(other)) => {
            eprintln!("tidemark: {}", other.message);
            Err(failure)
        }
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
        (Ok(_), Ok(code)) => Ok(code),
    }
}

fn import_records(words: &args::Import, files: &[PathBuf]) -> Result<ExitCode, Failure> {
    if words.dry_run || words.explain {
        for file in files {
            let said = texts::dry_record(words.lang, file.display(), read(file)?.id);
            print(&format!("{said}\n"));
        }
        return Ok(ExitCode::Success);
    }
    let path = store_path(words.store.store.as_deref())?;
    let mut store = None;
    let (mut new, mut known) = (0, 0);
    let mut failures = Vec::new();
    let bar = progress::bar(
        files.len() as u64,
        progress_texts::records(words.lang),
        words.lang,
    );
    for file in files {
        let shown = file.display();
        let taken = match read(file) {
            Ok(record) => {
                // A store is made only when there is something to put into it.
                let store = match &mut store {
                    Some(store) => store,
                    none => none.insert(Store::open(&path)?),
                };
                take(store, &record).map_err(|failure| {
                    let said = format!("{shown}: {}", failure.message);
                    Failure::new(failure.code, said)
                })
            }
            Err(failure) => Err(failure),
        };
        match taken {
            Ok(Taken::New(id)) => {
                new += 1;
                bar.suspend(|| {
                    print(&format!(
                        "{}\n",
                        texts::imported_from(words.lang, id, &shown)
                    ))
                });
            }
            Ok(Taken::Known(id, same)) => {
                known += 1;
                let labels = match same {
                    true => "",
                    false => texts::known_labels(words.lang),
                };
                let said = texts::known_record(words.lang, id, &shown);
                bar.suspend(|| print(&format!("{said}{labels}\n")));
            }
            Err(failure) => {
                if files.len() > 1 {
                    bar.suspend(|| eprintln!("tidemark: {}", failure.message));
                }
                failures.push(failure);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let ([_], [only]) = (files, failures.as_slice()) {
        return Err(only.clone());
    }
    let done = texts::records_done(words.lang, new, known);
    match failures.first() {
        Some(first) => Err(Failure::new(
            first.code,
            texts::records_failed(words.lang, done, failures.len()),
        )),
        None => {
            if files.len() > 1 {
                print(&format!("{done}\n"));
            }
            Ok(ExitCode::Success)
        }
    }
}

/// What became of a record.
enum Taken {
    /// It is in the store now, under this id.
    New(String),
    /// It was there; whether with the same labels.
    Known(String, bool),
}

/// Puts a record into the store, unless it is there.
fn take(store: &mut Store, record: &RunRecord) -> Result<Taken, Failure> {
    match store.import(record) {
        Ok(()) => Ok(Taken::New(record.id.clone())),
        Err(exists @ StoreError::Exists { .. }) => known(store.get(&record.id)?, record)
            .ok_or_else(|| {
                let failure = Failure::from(exists);
                let said = format!(
                    "{}, with different content; it was not changed",
                    failure.message
                );
                Failure::new(failure.code, said)
            }),
        Err(error) => Err(error.into()),
    }
}

/// Whether the store's record is the one that comes, but for what users say of it.
fn known(there: RunRecord, comes: &RunRecord) -> Option<Taken> {
    let mut there = imported::without_passwords(there).ok()?;
    let mut tags = comes.tags.clone();
    tags.sort();
    let same_labels = there.tags == tags && there.note == comes.note;
    there.tags.clone_from(&comes.tags);
    there.note.clone_from(&comes.note);
    (there == *comes).then(|| Taken::Known(comes.id.clone(), same_labels))
}

/// One record from a file, as it may be kept.
fn read(file: &Path) -> Result<RunRecord, Failure> {
    let bad = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", file.display()));
    let text = read_text(file, LONGEST_RECORD).map_err(|e| bad(&e))?;
    let record = from_json(&text).map_err(|e| bad(&e))?;
    drop(text);
    check_id(&record.id).map_err(|e| bad(&e))?;
    imported::without_passwords(record).map_err(|e| bad(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_file_says_its_format() {
        for (file, format) in [
            ("run", "json"),
            ("run.json", "json"),
            ("run.txt", "json"),
            ("run.csv", "csv"),
            ("RUN.CSV", "csv"),
            ("my.run.csv", "csv"),
            ("run.series.csv", "series"),
            ("run.clients.csv", "clients"),
            ("run.parquet", "parquet"),
            ("run.series.parquet", "series-parquet"),
            ("run.hlog", "hdr"),
        ] {
            assert_eq!(format_of(Path::new(file), None).unwrap(), format, "{file}");
            let asked = format_of(Path::new(file), Some(format));
            assert_eq!(asked.unwrap(), format, "{file}");
        }
        let anything = format_of(Path::new("run.dat"), Some("csv"));
        assert_eq!(anything.unwrap(), "csv");
        let refused = |file: &str, asked| format_of(Path::new(file), asked).unwrap_err().message;
        let said = refused("run.csv", Some("json"));
        assert!(
            said.contains("csv or series or clients, not json"),
            "{said}"
        );
        assert!(said.ends_with("; for example -o run.json"), "{said}");
        let said = refused("run.json", Some("hdr"));
        assert!(said.ends_with("; for example -o run.hlog"), "{said}");
        for asked in [None, Some("json")] {
            let said = refused("run.md", asked);
            assert!(said.contains("tidemark report last --out run.md"), "{said}");
        }
    }
}
