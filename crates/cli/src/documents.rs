//! Documents with outputs of other tools: which files they are, and their runs.

use crate::exit::{ExitCode, Failure};
use crate::imported;
use crate::texts::documents as texts;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, stdin};
use std::path::{Component, Path, PathBuf};
use tidemark_core::record::RunRecord;
use tidemark_core::{StudyPlace, printable_lines};
use tidemark_import::{Became, Import, Origin, Unit, without_secrets};
use tidemark_report::Lang;

/// What ids of the studies begin with that documents make.
pub const STUDY_IDS: &str = "import-";
/// Ranges of lines that are printed; the others are counted.
pub const RANGES: usize = 5;
/// Folders in folders, no deeper.
const DEEPEST: usize = 8;

/// The files that words name: folders are searched, in order of names.
///
/// # Errors
/// [`Failure`] for a folder that can't be read, or holds no file.
pub fn files(words: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for word in words {
        let before = all.len();
        add(word, 0, &mut all)?;
        if all.len() == before {
            return Err(Failure::usage(format!(
                "{}: it is a folder without files; name one with files, or a file: results/run.txt",
                word.display()
            )));
        }
    }
    Ok(all)
}

fn add(path: &Path, depth: usize, all: &mut Vec<PathBuf>) -> Result<(), Failure> {
    if !path.is_dir() {
        all.push(path.into());
        return Ok(());
    }
    let bad = |e: std::io::Error| Failure::usage(format!("{}: {e}", path.display()));
    let mut inside: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(path).map_err(bad)? {
        inside.push(entry.map_err(bad)?.path());
    }
    inside.sort();
    let hidden = |p: &Path| {
        p.file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with('.'))
    };
    for path in inside.into_iter().filter(|p| !hidden(p)) {
        if path.is_dir() && (depth >= DEEPEST || path.is_symlink()) {
            continue;
        }
        add(&path, depth + 1, all)?;
    }
    Ok(())
}

/// Whether a file is a record of Tidemark's, as its first bytes say. What is no plain file is read as
/// one.
pub fn is_record(path: &Path) -> bool {
    if path == Path::new("-") {
        return false;
    }
    let plain = fs::metadata(path).is_ok_and(|m| m.is_file());
    if !plain {
        return true;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|f| f.take(64 << 10).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    let json = path.extension().is_some_and(|e| e == "json");
    read.is_err()
        || head.trim_start().starts_with('{') && head.contains("\"schema_version\"")
        || json && !is_output(path)
}

fn is_output(path: &Path) -> bool {
    read(path, None, &mut |_, _, _| {}).is_ok_and(|import| !import.runs.is_empty())
}

/// What of a document was not understood, with its lines; empty where all was.
pub fn not_understood(import: &Import, lang: Lang) -> String {
    let left = &import.leftovers;
    if left.lines == 0 {
        return String::new();
    }
    let of = |(first, last, text): &(u64, u64, String)| match first == last {
        true => texts::one_line(lang, first, text) + "\n",
        false => texts::several_lines(lang, first, last, text) + "\n",
    };
    let told: String = left.ranges.iter().take(RANGES).map(of).collect();
    let not = texts::not_understood(lang, left.lines);
    let mut all = printable_lines(&format!("{not}\n{told}")).to_string();
    if left.ranges.len() > RANGES {
        all += &texts::more_places(lang, left.ranges.len());
        all.push('\n');
    }
    all
}

/// The runs of a document, without passwords, each with its place among the others. Latencies of which
/// it states no unit have the one that is named.
///
/// # Errors
/// [`Failure`] where it is no text, or can't be read.
pub fn read(
    path: &Path,
    unit: Option<Unit>,
    seen: &mut dyn FnMut(u64, &str, Became),
) -> Result<Import, Failure> {
    let bad = |why: &dyn std::fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
    let is_input = path == Path::new("-");
    let name = match is_input {
        true => "-".into(),
        false => path
            .file_name()
            .map_or("-".into(), |n| n.to_string_lossy().into_owned()),
    };
    let written = fs::metadata(path).and_then(|m| m.modified()).ok();
    let written = written
        .and_then(|at| Timestamp::try_from(at).ok())
        .unwrap_or_else(Timestamp::now);
    let origin = Origin {
        file: name,
        written_at: written.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
        unit,
    };
    let mut import = match is_input {
        true => tidemark_import::read(stdin().lock(), &origin, seen),
        false => {
            let file = File::open(path).map_err(|e| bad(&e))?;
            tidemark_import::read(file, &origin, seen)
        }
    }
    .map_err(|e| bad(&e))?;
    let runs = std::mem::take(&mut import.runs);
    let mut runs: Vec<RunRecord> = runs
        .into_iter()
        .map(imported::without_passwords)
        .collect::<Result<_, _>>()
        .map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    runs.iter_mut().for_each(hide_secrets);
    place(&mut runs, &study_of(path, &origin.file));
    import.runs = runs;
    for (_, text) in &mut import.missing {
        *text = without_secrets(text);
    }
    Ok(import)
}

/// A record keeps some of the document's lines as they are: headings, of which one may be a workload's
/// name, and cells.
fn hide_secrets(run: &mut RunRecord) {
    run.workload = without_secrets(&run.workload);
    if let Some(imported) = &mut run.imported {
        imported.heading = without_secrets(&imported.heading);
    }
    for option in run.options.values_mut() {
        option.value = without_secrets(&option.value);
    }
}

/// What was assumed of a document's latencies, a line each.
pub fn without_unit(import: &Import, lang: Lang) -> impl Iterator<Item = String> + '_ {
    import
        .without_unit
        .iter()
        .map(move |(first, last, unit)| texts::without_unit(lang, first, last, unit.name()))
}

/// What a document's study is called: the file with the folders that it was named by, so that files of
/// one name in several folders have a study each.
fn study_of(path: &Path, file: &str) -> String {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let named = folders.filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    let mut words: Vec<String> = named.collect();
    words.push(file.into());
    words.join("/")
}

/// Columns of tables that tell runs apart.
const TELLING: [&str; 18] = [
    "variant",
    "version",
    "db",
    "database",
    "dbms",
    "engine",
    "server",
    "target",
    "config",
    "configuration",
    "branch",
    "版本",
    "数据库",
    "引擎",
    "配置",
    "方案",
    "机型",
    "实例",
];

/// Columns of unknown names that tell the rows of their table apart: every row has a text or a whole
/// number there, and they are not the same.
fn telling(runs: &[RunRecord]) -> BTreeMap<String, BTreeSet<String>> {
    let mut tables: BTreeMap<&str, Vec<&RunRecord>> = BTreeMap::new();
    for run in runs {
        let imported = run.imported.as_ref().filter(|i| i.tool == "table");
        if let Some(imported) = imported {
            tables.entry(&imported.heading).or_default().push(run);
        }
    }
    let mut found = BTreeMap::new();
    for (heading, rows) in tables {
        let Some(first) = rows.first() else { continue };
        let names = first.options.keys().filter(|name| {
            let mut values = rows.iter().map(|run| run.options.get(*name));
            let is_condition = |value: &str| {
                let is_number = value.starts_with(|c: char| c.is_ascii_digit() || c == '-');
                !(value.is_empty() || is_number && value.contains('.'))
            };
            let differ = rows
                .iter()
                .any(|run| run.options.get(*name) != first.options.get(*name));
            differ
                && tidemark_import::may_tell_apart(name)
                && values.all(|value| value.is_some_and(|v| is_condition(&v.value)))
        });
        found.insert(heading.to_string(), names.cloned().collect());
    }
    found
}

/// Puts the runs of a document into a study of its name: what tells them apart are its factors, and
/// what nothing tells apart are repeats.
fn place(runs: &mut [RunRecord], name: &str) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let telling = telling(runs);
    for run in runs {
        let Some(imported) = &run.imported else {
            continue;
        };
        let mut factors = BTreeMap::from([
            ("tool".to_string(), imported.tool.clone()),
            ("workload".to_string(), run.workload.clone()),
        ]);
        if run.sessions > 0 {
            factors.insert("threads".into(), run.sessions.to_string());
        }
        // Of how many clients it is may not be known.
        let each = run.options.get("threads-per-client");
        if let Some(each) = each.filter(|_| run.sessions == 0) {
            factors.insert("threads-per-client".into(), each.value.clone());
        }
        // Clients of one test are added.
        if let (Some(client), None) = (&imported.client, &imported.test) {
            factors.insert("client".into(), client.clone());
        }
        for option in tidemark_import::TEST_OPTIONS {
            if let Some(value) = run.options.get(option) {
                factors.insert(option.into(), value.value.clone());
            }
        }
        let is_table = imported.tool == "table";
        let own = telling.get(&imported.heading);
        for (name, value) in run.options.iter().filter(|_| is_table) {
            let tells = own.is_some_and(|own| own.contains(name));
            if tells || TELLING.contains(&name.to_lowercase().as_str()) {
                factors.insert(name.clone(), value.value.clone());
            }
        }
        if is_table && !imported.heading.is_empty() {
            factors.insert("heading".into(), imported.heading.clone());
        }
        let cell: Vec<&str> = factors.values().map(String::as_str).collect();
        let cell = cell.join(" ");
        let repeat = seen.entry(cell.clone()).or_insert(0);
        *repeat += 1;
        run.study = Some(StudyPlace {
            study: format!("{STUDY_IDS}{name}"),
            name: name.into(),
            cell,
            factors,
            repeat: *repeat,
        });
    }
}

/// A run of a document in a few words, with its lines.
pub fn named(run: &RunRecord, lang: Lang) -> String {
    let Some(of) = &run.imported else {
        return run.workload.clone();
    };
    let sessions = match run.sessions {
        0 => String::new(),
        n => texts::sessions(lang, n),
    };
    let client = of
        .client
        .as_ref()
        .map(|c| texts::client(lang, c))
        .unwrap_or_default();
    let variant = run.options.get("variant");
    let variant = variant.map_or(String::new(), |v| format!(" {}", v.value));
    let (file, first, last) = (&of.file, of.first_line, of.last_line);
    let lines = if first == last {
        format!("{first}")
    } else {
        format!("{first}-{last}")
    };
    format!(
        "{} {}{variant}{sessions}{client} ({file}:{lines})",
        of.tool, run.workload
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_tell_rows_apart_are_factors() {
        let cells = |text: &str| -> Vec<String> {
            let origin = Origin::of("a.md");
            let mut runs = tidemark_import::read(text.as_bytes(), &origin, &mut |_, _, _| {})
                .unwrap()
                .runs;
            place(&mut runs, "a.md");
            let cells = runs.into_iter().map(|run| run.study.unwrap().cell);
            let mut cells: Vec<String> = cells.collect();
            cells.sort();
            cells.dedup();
            cells
        };
        for rows in [
            "Isolation,threads,TPS\nserializable,8,100\nread committed,8,160\n",
            "buffer pool,threads,TPS\n8,8,100\n16,8,160\n",
            "场景,操作,并发,TPS\nA,x,8,100\nB,x,8,160\n",
        ] {
            assert_eq!(cells(rows).len(), 2, "{rows}");
        }
        // Remarks, and figures whose names are not known, make no conditions.
        for rows in [
            "threads,TPS,stddev,备注\n8,100,1.5,\n8,101,2.5,x\n",
            "run,threads,TPS\n1,8,100\n2,8,101\n",
        ] {
            assert_eq!(cells(rows).len(), 1, "{rows}");
        }
    }

    #[test]
    fn files_of_one_name_in_two_folders_have_a_study_each() {
        let of = |path: &str| study_of(Path::new(path), "run.txt");
        assert_eq!(of("run.txt"), "run.txt");
        assert_eq!(of("./run.txt"), "run.txt");
        assert_eq!(of("a/run.txt"), "a/run.txt");
        assert_ne!(of("a/run.txt"), of("b/run.txt"));
        assert_ne!(of("x/a/run.txt"), of("y/a/run.txt"));
    }
}
