//! The files of a script: those of this host, or those that came with it, and which it needs.

use crate::file::{Origin, ScriptError, ScriptFiles};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// No script is larger.
const LARGEST: u64 = 64 << 20;
/// The functions that read a file as a part of the script.
const READERS: [&str; 3] = ["require", "dofile", "loadfile"];

/// What this process has compiled: messages show a line of it, and of no other file.
static COMPILED: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());

/// Remembers what was compiled.
pub(crate) fn remember(path: &str, text: &[u8]) {
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    compiled.insert(path.to_string(), text.to_vec());
}

/// A line, from 1, of a file that was compiled.
pub(crate) fn line_of(path: &str, line: usize) -> Option<String> {
    let compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(compiled.get(path)?);
    let line = text.lines().nth(line.checked_sub(1)?)?;
    Some(line.to_string())
}

/// Where `require` looks: beside the script, and where sysbench looks.
pub(crate) fn search_path(script: &Path) -> String {
    let folder = match script.parent() {
        Some(folder) if folder != Path::new("") => folder.display().to_string(),
        _ => ".".into(),
    };
    format!("{folder}/?.lua;{folder}/?/init.lua;./?.lua;./?/init.lua")
}

impl Origin {
    /// Whether there is a file of this name.
    pub(crate) fn is_file(&self, path: &str) -> bool {
        match &self.files {
            Some(files) => files.contains_key(path),
            None => Path::new(path).is_file(),
        }
    }

    /// What is in a file.
    ///
    /// # Errors
    /// In words, with the file's name.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match &self.files {
            Some(files) => {
                let found = files.get(path).cloned();
                found.ok_or_else(|| format!("{path}: did not come with the script"))
            }
            None => tidemark_files::read(Path::new(path), LARGEST)
                .map_err(|error| format!("{path}: {error}")),
        }
    }
}

/// These files, and all that they name where they read others. A name alone may be in a comment: one that
/// can't be read is left to whoever asks for it.
///
/// # Errors
/// [`ScriptError`] of one of these files that can't be read.
pub(crate) fn all(
    origin: &Origin,
    read: &BTreeSet<String>,
    search: &str,
) -> Result<ScriptFiles, ScriptError> {
    let mut files = ScriptFiles::new();
    let mut wanted: Vec<String> = read.iter().cloned().collect();
    while let Some(path) = wanted.pop() {
        if files.contains_key(&path) {
            continue;
        }
        let text = match origin.read(&path) {
            Ok(text) => text,
            Err(_) if !read.contains(&path) => continue,
            Err(error) => return Err(ScriptError::Failed(error)),
        };
        wanted.extend(named_in(&String::from_utf8_lossy(&text), search, origin));
        files.insert(path, text);
    }
    Ok(files)
}

/// The files that a text names where it reads others. What it makes up while it runs is not known.
fn named_in(text: &str, search: &str, origin: &Origin) -> Vec<String> {
    let mut found = Vec::new();
    for reader in READERS {
        for (at, _) in text.match_indices(reader) {
            let Some(name) = quoted(&text[at + reader.len()..]) else {
                continue;
            };
            let paths: Vec<String> = match reader {
                "require" => {
                    let file = name.replace('.', "/");
                    let places = search.split(';');
                    places.map(|place| place.replace('?', &file)).collect()
                }
                _ => vec![name.to_string()],
            };
            found.extend(paths.into_iter().find(|path| origin.is_file(path)));
        }
    }
    found
}

/// The text in quotes that comes first, also in parentheses.
fn quoted(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('(').unwrap_or(rest).trim_start();
    let quote = rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
    let rest = &rest[1..];
    rest.find(quote).map(|end| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn origin(files: &[(&str, &str)]) -> Origin {
        let files = files.iter();
        let files = files.map(|(path, text)| ((*path).to_string(), text.as_bytes().to_vec()));
        Origin {
            files: Some(Arc::new(files.collect())),
            ..Origin::default()
        }
    }

    #[test]
    fn a_script_has_the_files_that_its_functions_name() {
        let origin = origin(&[
            (
                "d/s.lua",
                "function event() require('a.b') dofile \"c.lua\" end",
            ),
            ("d/a/b.lua", "local x = require(\"last\")\nrequire(x)"),
            ("./last/init.lua", "require('s')"),
            ("c.lua", "loadfile( 'gone.lua' )"),
            ("other.lua", ""),
        ]);
        let first = BTreeSet::from(["d/s.lua".to_string()]);
        let search = search_path(Path::new("d/s.lua"));
        let files = all(&origin, &first, &search).unwrap();
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["./last/init.lua", "c.lua", "d/a/b.lua", "d/s.lua"]);
        let gone = BTreeSet::from(["gone.lua".to_string()]);
        let error = all(&origin, &gone, &search).unwrap_err().to_string();
        assert_eq!(error, "gone.lua: did not come with the script");
    }

    #[test]
    fn a_file_that_is_only_named_may_be_unreadable() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name).display().to_string();
        let (script, other) = (path("s.lua"), path("big.lua"));
        let text = format!("-- once: dofile('{other}')\nfunction event() end");
        std::fs::write(&script, text).unwrap();
        let big = std::fs::File::create(&other).unwrap();
        big.set_len(LARGEST + 1).unwrap();
        let origin = Origin::default();
        let search = search_path(Path::new(&script));
        let files = |read: &[&String]| {
            let read: BTreeSet<String> = read.iter().map(|path| (*path).clone()).collect();
            all(&origin, &read, &search)
        };
        let found = files(&[&script]).unwrap();
        assert!(found.keys().eq([&script]), "{:?}", found.keys());
        // One that was asked for is missed.
        let error = files(&[&script, &other]).unwrap_err().to_string();
        assert!(error.starts_with(&other), "{error}");
    }

    #[test]
    fn only_what_was_compiled_is_shown() {
        remember("shown.lua", b"one\ntwo");
        assert_eq!(line_of("shown.lua", 2).as_deref(), Some("two"));
        assert_eq!(line_of("shown.lua", 0), None);
        assert_eq!(line_of("/etc/passwd", 1), None);
    }
}
