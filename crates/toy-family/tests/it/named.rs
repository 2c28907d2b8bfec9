//! A family is named in its own modules and in the lists that have its rows, and nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

const FAMILY: &str = "ycsb";
/// The lists with rows of the family (ADR 6).
const LISTS: [&str; 5] = [
    "cli/src/compat/mod.rs",
    "core/src/tools/mod.rs",
    "import/src/formats/mod.rs",
    "report/src/lib.rs",
    "workloads/src/lib.rs",
];

/// The code below a folder, tests and the family's own modules aside.
fn code(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_apart = [FAMILY, "tests"]
            .iter()
            .any(|n| path.file_stem().unwrap() == *n);
        if is_apart {
            continue;
        }
        if path.is_dir() {
            code(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Whether a line declares a module of the family or is one of its rows.
fn is_row(line: &str) -> bool {
    let line = line.trim();
    let is_value = ["ycsb::", "Ycsb("]
        .iter()
        .any(|begin| line.starts_with(begin));
    is_value && line.ends_with(',') || ["mod ycsb;", "pub mod ycsb;", "/// YCSB."].contains(&line)
}

#[test]
fn lists_alone_name_a_family_outside_its_modules() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let sources = entry.unwrap().path().join("src");
        if sources.is_dir() {
            code(&sources, &mut files);
        }
    }
    files.sort();
    let mut naming = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if !text.to_lowercase().contains(FAMILY) {
            continue;
        }
        let named = text.lines().filter(|l| l.to_lowercase().contains(FAMILY));
        let others: Vec<&str> = named.filter(|l| !is_row(l)).collect();
        assert!(others.is_empty(), "{}: {others:#?}", file.display());
        naming.push(file.strip_prefix(crates).unwrap().display().to_string());
    }
    assert_eq!(naming, LISTS);
}
