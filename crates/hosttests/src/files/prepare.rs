//! Making the files and removing them. Nothing that Tidemark did not make is written or removed.

use super::buffer::Buffer;
use super::ownership::Marker;
use super::{Extra, validation};
use super::{Layout, io};
use crate::HostError;
use crate::random::Random;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// So many files are named one by one.
const MOST_NAMED: usize = 8;

/// What `prepare` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PreparedFiles {
    /// Bytes written.
    pub bytes: u64,
    /// How long that took.
    pub took: Duration,
    /// Files that were there as they should be.
    pub kept: usize,
}

/// Makes the files. Those that Tidemark made before and that have the right size stay, unless their
/// blocks are to carry checksums and do not; `making` hears the name of each that is made.
///
/// # Errors
/// [`HostError::Foreign`] before anything is done when somebody else's file has one of their names;
/// [`HostError::Unfinished`] when one could not be made: those made by this call are gone then.
pub fn prepare(
    layout: &Layout,
    extra: Extra,
    validate: bool,
    seed: u64,
    stop: &AtomicBool,
    making: &mut dyn FnMut(&Path),
) -> Result<PreparedFiles, HostError> {
    layout.check()?;
    let mut marker = Marker::read(&layout.folder)?;
    // Files of one list are all alike.
    let validate = validate || marker.validated;
    let mut there = Vec::new();
    for file in 0..layout.count {
        let path = layout.path(file);
        let found = look(&path)?;
        if let Some(found) = &found
            && !marker.owns(&path, found)
        {
            let instead = "prepare makes files of this name; use an empty folder";
            return Err(marker.refusal(path, found, instead.into()));
        }
        there.push(found);
    }
    let mut prepared = PreparedFiles::default();
    let begun = Instant::now();
    let anew = validate && !marker.validated;
    if anew && marker.is_empty() {
        marker.validated()?;
    }
    let mut made = Vec::new();
    for (file, found) in there.iter().enumerate() {
        let path = layout.path(file);
        let is_right = found
            .as_ref()
            .is_some_and(|found| found.len() == layout.file_bytes());
        if is_right && !anew {
            prepared.kept += 1;
            continue;
        }
        making(&path);
        let done = replace(&mut marker, layout, file, found.is_some(), &mut made)
            .and_then(|target| fill(target, &path, layout, extra, validate, seed, stop));
        if let Err(cause) = done {
            return Err(undo(marker, &made, cause));
        }
        prepared.bytes += layout.file_bytes();
    }
    if anew && !marker.validated {
        marker.validated()?;
    }
    prepared.took = begun.elapsed();
    Ok(prepared)
}

/// What is at a path, a link as a link; `None` where there is nothing.
pub(super) fn look(path: &Path) -> Result<Option<Metadata>, HostError> {
    match std::fs::symlink_metadata(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(HostError::file("look at", path)(error)),
    }
}

/// A file that is not there yet; one of ours goes for it.
fn replace(
    marker: &mut Marker,
    layout: &Layout,
    file: usize,
    is_there: bool,
    made: &mut Vec<PathBuf>,
) -> Result<File, HostError> {
    let path = layout.path(file);
    if is_there {
        std::fs::remove_file(&path).map_err(HostError::file("remove", &path))?;
    }
    let target = marker.create(layout, file)?;
    made.push(path);
    Ok(target)
}

fn fill(
    mut target: File,
    path: &Path,
    layout: &Layout,
    extra: Extra,
    validate: bool,
    seed: u64,
    stop: &AtomicBool,
) -> Result<(), HostError> {
    if extra != Extra::default() {
        // Flags such as O_DIRECT are open(2)'s.
        let again = io::options(extra, true).open(path);
        target = again.map_err(HostError::file("open", path))?;
    }
    let block = usize::try_from(layout.block)
        .map_err(|_| HostError::Options("--file-block-size is larger than memory".into()))?;
    let mut buffer = Buffer::new(block);
    let mut random = Random::new(seed, 0);
    let mut offset = 0;
    while offset < layout.file_bytes() {
        if stop.load(Ordering::Relaxed) {
            return Err(HostError::Interrupted);
        }
        let length = layout.block.min(layout.file_bytes() - offset) as usize;
        let bytes = &mut buffer.bytes_mut()[..length];
        if validate {
            validation::fill(bytes, offset, &mut random);
        }
        let written = target.write_all(bytes);
        written.map_err(HostError::file("write", path))?;
        offset += length as u64;
    }
    target.sync_all().map_err(HostError::file("sync", path))
}

/// What is said of files that were made and stay.
pub(super) fn these_are_left(files: &[&Path]) -> String {
    format!(
        "these files are left, remove them with cleanup: {}",
        named(files)
    )
}

/// Files by name; of many the first ones and the last.
fn named(files: &[&Path]) -> String {
    let shown = |files: &[&Path]| {
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        names.join(", ")
    };
    match files {
        [first @ .., last] if files.len() > MOST_NAMED => format!(
            "{}, … {} ({} files)",
            shown(&first[..MOST_NAMED - 1]),
            last.display(),
            files.len()
        ),
        _ => shown(files),
    }
}

/// Removes what this call made, and says what became of it.
fn undo(marker: Marker, made: &[PathBuf], cause: HostError) -> HostError {
    let (mut left, mut unproven) = (Vec::new(), Vec::new());
    let mut gone = 0;
    for path in made {
        let Some(found) = look(path).ok().flatten() else {
            continue;
        };
        if !marker.owns(path, &found) {
            unproven.push(path.as_path());
        } else if std::fs::remove_file(path).is_ok() {
            gone += 1;
        } else {
            left.push(path.as_path());
        }
    }
    let others = marker.names().len() > made.len();
    let is_clean = left.is_empty() && unproven.is_empty();
    let left = match (left.is_empty(), unproven.is_empty()) {
        (true, true) if gone == 1 => "the file made until then was removed".into(),
        (true, true) => format!("the {gone} files made until then were removed"),
        (false, _) => {
            left.extend(unproven);
            these_are_left(&left)
        }
        (true, false) => format!(
            "these files are left, and can't be proved to be Tidemark's; remove them yourself: {}",
            named(&unproven)
        ),
    };
    if !others && is_clean {
        // It lists nothing any more.
        let _listed_nothing = marker.remove();
    }
    HostError::Unfinished {
        cause: Box::new(cause),
        left,
    }
}

/// Removes the files that Tidemark made in a folder, and their list; gives how many they were.
///
/// # Errors
/// [`HostError::Foreign`] naming the first file of these names that is somebody else's, when Tidemark's
/// own are gone.
pub fn cleanup(layout: &Layout) -> Result<usize, HostError> {
    let marker = Marker::read(&layout.folder)?;
    let mut removed = 0;
    let mut foreign = None;
    let listed = marker.names().into_iter();
    let mut paths: Vec<PathBuf> = listed.map(|name| layout.folder.join(name)).collect();
    paths.extend((0..layout.count).map(|file| layout.path(file)));
    paths.sort();
    paths.dedup();
    for path in paths {
        match look(&path)? {
            None => {}
            Some(found) if marker.owns(&path, &found) => {
                std::fs::remove_file(&path).map_err(HostError::file("remove", &path))?;
                removed += 1;
            }
            Some(found) => foreign = foreign.or(Some((path, found))),
        }
    }
    let refused = foreign.map(|(path, found)| {
        let instead = format!("{removed} files of Tidemark's were removed; remove it yourself");
        marker.refusal(path, &found, instead)
    });
    marker.remove()?;
    refused.map_or(Ok(removed), Err)
}
