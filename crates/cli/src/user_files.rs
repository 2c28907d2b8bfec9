//! Files that Tidemark writes where users say: known again when they are there already, and then
//! replaced. Any other file is somebody's, and stays.

use crate::exit::{ExitCode, Failure};
use crate::render::Format;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use tidemark_files::{Replace, WriteError};
use tidemark_report::CHART_MARK;

/// How much of a file's begin and end is looked at.
const LOOKED_AT: u64 = 4096;

/// Writes a report or a record whole or not at all.
///
/// # Errors
/// [`Failure`] naming the file; [`ExitCode::Refused`] when something is there that Tidemark did not
/// write in this format, unless the user insists.
pub fn write(path: &Path, bytes: &[u8], format: Format, overwrite: bool) -> Result<(), Failure> {
    let is_known = |file: &mut File| is_ours(file, format);
    tidemark_files::write(path, bytes, replacing(&is_known, overwrite))
        .map_err(|e| failed(path, &e))
}

/// Refuses beforehand what [`write()`] would refuse.
///
/// # Errors
/// As [`write()`].
pub fn permitted(path: &Path, format: Format, overwrite: bool) -> Result<(), Failure> {
    let is_known = |file: &mut File| is_ours(file, format);
    tidemark_files::permitted(path, replacing(&is_known, overwrite)).map_err(|e| failed(path, &e))
}

/// Writes a chart of a report, as [`write()`] does a report.
///
/// # Errors
/// As [`write()`].
pub fn write_chart(path: &Path, bytes: &[u8], overwrite: bool) -> Result<(), Failure> {
    tidemark_files::write(path, bytes, replacing(&is_chart, overwrite))
        .map_err(|e| failed(path, &e))
}

/// Refuses beforehand what [`write_chart`] would refuse.
///
/// # Errors
/// As [`write()`].
pub fn chart_permitted(path: &Path, overwrite: bool) -> Result<(), Failure> {
    tidemark_files::permitted(path, replacing(&is_chart, overwrite)).map_err(|e| failed(path, &e))
}

/// Whether there is a file that Tidemark wrote in this format, and no link to one.
pub fn is_own(path: &Path, format: Format) -> bool {
    is_known_file(path, &|file: &mut File| is_ours(file, format))
}

/// Whether there is a chart that Tidemark wrote, and no link to one.
pub fn is_own_chart(path: &Path) -> bool {
    is_known_file(path, &is_chart)
}

fn is_known_file(path: &Path, is_known: &dyn Fn(&mut File) -> io::Result<bool>) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|seen| seen.is_file());
    let file = File::open(path).ok().filter(|_| is_file);
    file.is_some_and(|mut file| is_known(&mut file).unwrap_or(false))
}

/// Whether a file is a chart that Tidemark wrote.
fn is_chart(file: &mut File) -> io::Result<bool> {
    let (begin, _) = ends_of(file)?;
    Ok(begin.starts_with("<svg ") && begin.contains(CHART_MARK))
}

fn replacing<'a>(
    is_known: &'a dyn Fn(&mut File) -> io::Result<bool>,
    overwrite: bool,
) -> Replace<'a> {
    match overwrite {
        true => Replace::Anything,
        false => Replace::Known(is_known),
    }
}

/// What is told of a file that was not written.
pub fn failed(path: &Path, error: &WriteError) -> Failure {
    let instead = match error.can_be_insisted() {
        true => "; name another file, or add --overwrite to replace it",
        false => "",
    };
    let code = match error {
        WriteError::Kind(_) => ExitCode::Usage,
        error if error.is_refusal() => ExitCode::Refused,
        _ => ExitCode::Failed,
    };
    Failure::new(code, format!("{}: {error}{instead}", path.display()))
}

/// Whether a file is one that Tidemark wrote in this format.
fn is_ours(file: &mut File, format: Format) -> io::Result<bool> {
    let (begin, end) = ends_of(file)?;
    let last = end.trim_end().lines().next_back().unwrap_or_default();
    Ok(match format {
        Format::Html => {
            begin.starts_with("<!doctype html>")
                && begin.contains("<meta name=\"generator\" content=\"Tidemark\">")
        }
        // What stands at their end, in both languages.
        Format::Markdown | Format::Text => {
            last.starts_with("Made by Tidemark ") || last.starts_with("由 Tidemark ")
        }
        Format::Json => begin.starts_with('{') && begin.contains("\"tidemark_version\":"),
        Format::Csv => begin.starts_with("run_id,started_at,state,"),
    })
}

/// How a file begins and ends.
///
/// # Errors
/// Those of reading.
pub fn ends_of(file: &mut File) -> io::Result<(String, String)> {
    let length = file.metadata()?.len();
    let mut read_from = |at: u64| -> io::Result<String> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        file.by_ref().take(LOOKED_AT).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok((read_from(0)?, read_from(length.saturating_sub(LOOKED_AT))?))
}
