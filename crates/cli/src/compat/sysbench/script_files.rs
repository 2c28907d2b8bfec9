//! A script's files as a setting of its job: clients have no such files.

use crate::clients::{self, scripts};
use crate::exit::Failure;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tidemark_core::Job;
use tidemark_lua::{FILES_OPTION, Origin, ScriptFiles, script_at};

/// All files of a script have at most so many bytes: with its job they are one message, of which NATS takes
/// 1 MiB.
const MOST: usize = 512 << 10;

/// Where the script of these settings comes from.
///
/// # Errors
/// [`Failure`] of files that are none.
pub(super) fn origin(given: &[(String, String)]) -> Result<Origin, Failure> {
    let is_files = |(name, value): &&(String, String)| name == FILES_OPTION && !value.is_empty();
    let (is_confined, prints_aside) = (scripts::are_confined(), clients::is_load());
    let files = match given.iter().rev().find(is_files) {
        Some((_, text)) => Some(unpacked(text)?),
        // Files of an agent's host are nobody's script.
        None if is_confined || prints_aside => Some(ScriptFiles::new()),
        None => None,
    };
    Ok(Origin {
        files: files.map(Arc::new),
        is_confined,
        prints_aside,
    })
}

/// A job with the files of its script, for hosts that do not have them; another one as it is.
///
/// # Errors
/// [`Failure`] of bad usage: of files that can't be read, or are too large.
pub fn with_files(mut job: Job) -> Result<Job, Failure> {
    if !job.workload.name.starts_with("lua:") {
        return Ok(job);
    }
    let settings = &job.workload.settings;
    let path = settings.get("script").and_then(|path| path.as_str());
    let path = path.unwrap_or_default().to_string();
    let Some(script) = script_at(Path::new(&path)) else {
        return Err(Failure::usage(format!("--script={path}: was not read")));
    };
    let files = script.files().map_err(|e| Failure::usage(e.to_string()))?;
    let packed = packed(&files)?;
    job.workload.settings.insert(FILES_OPTION, packed.into());
    Ok(job)
}

fn packed(files: &ScriptFiles) -> Result<String, Failure> {
    check_size(files)?;
    let encoded = files.iter();
    let encoded = encoded.map(|(name, text)| (name, BASE64_STANDARD.encode(text)));
    let encoded: BTreeMap<&String, String> = encoded.collect();
    serde_json::to_string(&encoded).map_err(|e| wrong(&e))
}

fn unpacked(text: &str) -> Result<ScriptFiles, Failure> {
    let encoded: BTreeMap<String, String> = serde_json::from_str(text).map_err(|e| wrong(&e))?;
    let mut files = ScriptFiles::new();
    for (name, text) in encoded {
        let bytes = BASE64_STANDARD.decode(&text).map_err(|e| wrong(&e))?;
        files.insert(name, bytes);
    }
    check_size(&files)?;
    Ok(files)
}

fn wrong(error: &dyn std::fmt::Display) -> Failure {
    Failure::usage(format!("--{FILES_OPTION}: {error}"))
}

fn check_size(files: &ScriptFiles) -> Result<(), Failure> {
    let bytes: usize = files.values().map(Vec::len).sum();
    match bytes <= MOST {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "the script and the files that it names have {} KiB, of which clients get at most {} KiB; leave \
             out what it does not need",
            bytes.div_ceil(1024),
            MOST / 1024
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_travel_byte_by_byte_and_have_a_limit() {
        let mut files = ScriptFiles::new();
        files.insert("a/b.lua".into(), b"-- \xd6\xd0\n\"\\\0return 1".to_vec());
        files.insert("c.lua".into(), Vec::new());
        let text = packed(&files).unwrap();
        assert_eq!(unpacked(&text).unwrap(), files);
        let given = [("script-files".to_string(), text)];
        assert_eq!(origin(&given).unwrap().files.as_deref(), Some(&files));
        assert_eq!(origin(&[]).unwrap(), Origin::default());
        for wrong in ["{", "[1]", "{\"a\": \"%\"}"] {
            let said = unpacked(wrong).unwrap_err().message;
            assert!(said.starts_with("--script-files: "), "{said}");
        }
        files.insert("c.lua".into(), vec![b' '; MOST]);
        let said = packed(&files).unwrap_err().message;
        assert!(
            said.contains("513 KiB") && said.contains("512 KiB"),
            "{said}"
        );
    }
}
