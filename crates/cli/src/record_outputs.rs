//! Where a run's record goes when it has ended: the store, and the files asked for.

use crate::exit::{ExitCode, Failure};
use crate::recording::Recording;
use crate::render::{self, Format};
use crate::report_files::{ReportFile, of_one};
use crate::stdio;
use crate::storing::Storing;
use crate::texts::progress as texts;
use crate::user_files::NO_FOLDER;
use crate::watching::Watching;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tidemark_core::job::OutputFiles;
use tidemark_core::record::RunRecord;
use tidemark_drivers::Connector;
use tidemark_engine::Started;
use tidemark_report::{Authored, Lang, fewer_sessions, finding_lines};
use tidemark_store::check_tag;

/// Longer runs are judged by their totals alone when they end; `show` and `report` judge intervals,
/// too.
const LONGEST_JUDGED_S: f64 = 3600.0;

/// The run that this process has kept in a store last.
static KEPT: Mutex<Option<String>> = Mutex::new(None);

/// The run that this process has kept in a store last, by its id.
pub fn last_kept() -> Option<String> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Files that a run writes, checked before it begins.
pub struct RecordOutputs {
    record: Option<PathBuf>,
    reports: Vec<(PathBuf, Format)>,
    lang: Lang,
    /// Whether files go that Tidemark did not write.
    overwrite: bool,
}

impl RecordOutputs {
    /// What `--out`, `--report` and `--lang` ask for.
    ///
    /// # Errors
    /// [`Failure`] of bad usage: an ending that says no format, a folder that is not there, a tag
    /// that [`check_tag`] refuses;
    /// [`ExitCode::Refused`] for a file that Tidemark did not write.
    pub fn new(files: &OutputFiles) -> Result<Self, Failure> {
        files.tags.iter().try_for_each(|tag| check_tag(tag))?;
        let record = files.record.clone();
        let overwrite = files.overwrite;
        let mut reports = Vec::new();
        for file in &files.reports {
            reports.push((file.clone(), Format::of(file)?));
        }
        for (name, path, format) in record
            .iter()
            .map(|p| ("out", p, Format::Json))
            .chain(reports.iter().map(|(p, format)| ("report", p, *format)))
        {
            let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
            let refused = if folder.is_some_and(|f| !f.is_dir()) {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                Some(format!("{NO_FOLDER}; for example --{name}={file}"))
            } else if path.is_dir() {
                Some(format!(
                    "it is a folder; use a file in it, for example --{name}={}",
                    path.join("run.json").display()
                ))
            } else {
                None
            };
            if let Some(reason) = refused {
                return Err(Failure::usage(format!(
                    "--{name}={}: {reason}",
                    path.display()
                )));
            }
            let file = ReportFile::at(path, format, overwrite);
            file.permitted().map_err(|failure| match failure.code {
                ExitCode::Failed => Failure::usage(format!("--{name}={}", failure.message)),
                _ => failure,
            })?;
        }
        Ok(Self {
            record,
            reports,
            lang: render::language(&files.lang),
            overwrite,
        })
    }

    fn any(&self) -> bool {
        self.record.is_some() || !self.reports.is_empty()
    }

    /// What the rules have to say of the run, a line each.
    fn findings(&self, record: &RunRecord) -> String {
        match tidemark_analysis::findings(record) {
            Ok(found) if found.is_empty() => String::new(),
            Ok(found) => format!("{}\n", finding_lines(&found, self.lang)),
            Err(error) => format!("{}\n", texts::findings(self.lang, error)),
        }
    }

    /// Keeps the record: in the store (whether it is there is returned), and in the files.
    ///
    /// # Errors
    /// [`Failure`] naming the file that can't be written.
    pub fn keep(
        &self,
        recording: &mut Recording,
        storing: &mut Storing,
        out: &mut dyn Write,
    ) -> Result<bool, Failure> {
        let kept = storing.finish(&recording.record);
        tidemark_runtime::forget_program_text();
        // A day's intervals are left where they are unless a file asks for them.
        let few = recording.record.totals.elapsed_s <= LONGEST_JUDGED_S;
        let beside = storing.place_beside(&recording.record).filter(|_| !kept);
        if self.any() || few || beside.is_some() {
            (recording.record.intervals, recording.record.series) = storing.measured();
        }
        let record = &recording.record;
        complain(storing);
        if let Some(path) = beside {
            put_beside(record, &path, storing);
        }
        tidemark_runtime::forget_program_text();
        say(out, &self.findings(record));
        tidemark_runtime::forget_program_text();
        let written = self.write(record, out);
        if kept {
            let mut last = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
            *last = Some(record.id.clone());
            drop(last);
            let where_to_look = format!("{}\n", texts::stored(self.lang, &record.id));
            say(out, &where_to_look);
            if stdio::failure().is_some() {
                // The summary did not arrive, and this is where it can be had.
                eprint!("{where_to_look}");
            }
        }
        written?;
        Ok(kept)
    }

    fn write(&self, record: &RunRecord, out: &mut dyn Write) -> Result<(), Failure> {
        if let Some(path) = &self.record {
            render::write(record, path, Format::Json, self.lang, self.overwrite)?;
            say(
                out,
                &format!("{}\n", texts::record(self.lang, path.display())),
            );
        }
        for (path, format) in &self.reports {
            let file = ReportFile::at(path, *format, self.overwrite);
            let authored = Authored::default();
            let written = of_one(record, *format, self.lang, &authored, file.folder())?;
            let of_charts = file.write(&written, self.lang)?;
            say(
                out,
                &format!("{}\n", texts::report(self.lang, path.display())),
            );
            for line in of_charts {
                eprintln!("tidemark: {line}");
            }
        }
        Ok(())
    }
}

/// Writes the record of a run that the store did not take, so that it is not lost.
fn put_beside(record: &RunRecord, path: &Path, storing: &Storing) {
    let written = render::write(record, path, Format::Json, Lang::En, false);
    match written {
        Ok(()) => eprintln!(
            "tidemark: the record is in {}; when the store is writable: {}",
            path.display(),
            storing.taking_in(record, path)
        ),
        Err(error) => eprintln!(
            "tidemark: the record could not be written next to the store \
                                 either: {error}"
        ),
    }
}

/// Prints; a closed pipe must not end a run half-way.
pub fn say(out: &mut dyn Write, text: &str) {
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Takes note that sessions begin; what is to be said of those that could not be opened.
pub fn load_begins(
    recording: &mut Recording,
    storing: &mut Storing,
    connector: &Connector,
    watching: &mut Watching,
    begun: &Started,
) -> String {
    recording.started(begun, connector, &watching.showing(storing.sink()));
    storing.begin(&recording.record);
    complain(storing);
    fewer_sessions(&recording.record)
}

/// Says what went wrong with the store, if anything did.
pub fn complain(storing: &mut Storing) {
    if let Some(complaint) = storing.take_complaint() {
        eprintln!("tidemark: {complaint}");
    }
}
