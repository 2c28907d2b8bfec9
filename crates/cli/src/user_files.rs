//! Files that Tidemark writes where users say: known again when they are there already, and then
//! replaced. Any other file is somebody's, and stays.

use crate::exit::{ExitCode, Failure};
use crate::render::Format;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use tidemark_files::{Replace, WriteError};
use tidemark_report::is_unchanged_chart;

/// How much of a file's begin and end is looked at.
const LOOKED_AT: u64 = 4096;
/// No chart is longer, in bytes.
const LONGEST_CHART: u64 = 64 << 20;

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

/// Whether there is a chart as Tidemark wrote it, and no link to one.
pub fn is_own_chart(path: &Path) -> bool {
    is_known_file(path, &is_chart)
}

fn is_known_file(path: &Path, is_known: &dyn Fn(&mut File) -> io::Result<bool>) -> bool {
    let is_file = fs::symlink_metadata(path).is_ok_and(|seen| seen.is_file());
    // A pipe is not opened: that waits for its other end.
    let file = is_file.then(|| File::open(path).ok()).flatten();
    file.is_some_and(|mut file| is_known(&mut file).unwrap_or(false))
}

/// Whether a file is a chart that Tidemark wrote. One that somebody has changed since is theirs.
fn is_chart(file: &mut File) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(LONGEST_CHART).read_to_end(&mut bytes)?;
    Ok(std::str::from_utf8(&bytes).is_ok_and(is_unchanged_chart))
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
    let shown = path.display();
    match error {
        WriteError::Io(of_system) if lacks_folder(path, of_system) => {
            let name = path.file_name().unwrap_or(path.as_os_str());
            let name = Path::new(name).display();
            Failure::usage(format!("{shown}: {NO_FOLDER}; for example {name}"))
        }
        WriteError::Io(of_system) => {
            let said = without_path(of_system);
            Failure::new(code, format!("{shown}: can't be written: {said}"))
        }
        _ => Failure::new(code, format!("{shown}: {error}{instead}")),
    }
}

/// What is told of a file in a folder that is not there.
pub const NO_FOLDER: &str = "the folder does not exist; create it, or name a file in another";

fn lacks_folder(path: &Path, error: &io::Error) -> bool {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    error.kind() == ErrorKind::NotFound && folder.is_some_and(|f| !f.exists())
}

/// What the system says, without the name of the file that was to be moved into place: nobody typed it.
fn without_path(error: &io::Error) -> String {
    let said = error.to_string();
    match said.rsplit_once(" at path \"") {
        // The system's own errors name no path.
        Some((of_system, _)) if error.raw_os_error().is_none() => of_system.into(),
        _ => said,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_a_chart_holds_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("chart-01.svg");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || tell.send(is_own_chart(&path)));
        let wait = std::time::Duration::from_secs(30);
        assert_eq!(told.recv_timeout(wait), Ok(false));
    }

    #[test]
    fn the_path_that_was_typed_is_told_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r/x.md");
        let told = permitted(&path, Format::Markdown, false).unwrap_err();
        assert_eq!(told.code, ExitCode::Usage);
        let begin = format!("{}: the folder does not exist; ", path.display());
        assert!(told.message.starts_with(&begin), "{told}");
        assert!(told.message.ends_with("; for example x.md"), "{told}");
        // A file in the place of the folder.
        fs::write(dir.path().join("r"), "mine").unwrap();
        let errors = [
            permitted(&path, Format::Markdown, false).unwrap_err(),
            write(&path, b"x", Format::Markdown, true).unwrap_err(),
        ];
        for told in errors {
            let begin = format!("{}: can't be written: Not a dir", path.display());
            assert!(told.message.starts_with(&begin), "{told}");
            assert!(!told.message.contains(".tidemark-"), "{told}");
        }
        // No folder for a new file can be had there, and the system says so by its own words.
        let of_tempfile = tempfile::Builder::new()
            .prefix(".tidemark-")
            .tempfile_in(dir.path().join("none"))
            .unwrap_err();
        assert!(of_tempfile.to_string().contains(".tidemark-"));
        let said = without_path(&of_tempfile);
        assert_eq!(said, "No such file or directory (os error 2)");
    }
}
