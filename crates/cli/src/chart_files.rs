//! The charts of a Markdown report: files of their own in a folder beside it.

use crate::exit::{ExitCode, Failure};
use crate::user_files;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tidemark_report::ChartFile;

/// The folder of a report's charts: `out-files` beside `out.md`.
pub struct ChartFolder {
    /// Its name, as the report links it.
    pub name: String,
    path: PathBuf,
}

impl ChartFolder {
    /// None beside what is no file, such as a pipe.
    pub fn beside(report: &Path) -> Option<Self> {
        let is_file = match fs::symlink_metadata(report) {
            Ok(seen) => seen.is_file(),
            Err(_) => true,
        };
        let stem = report.file_stem().filter(|_| is_file)?;
        let name = format!("{}-files", stem.to_string_lossy());
        let path = report.with_file_name(&name);
        Some(Self { name, path })
    }

    /// How it is shown to users.
    pub fn display(&self) -> impl std::fmt::Display {
        self.path.display()
    }

    /// Writes the charts, or none of them.
    ///
    /// # Errors
    /// [`Failure`] naming the file; [`ExitCode::Refused`] when something is there that Tidemark did not
    /// write, unless the user insists.
    pub fn write(&self, charts: &[ChartFile], overwrite: bool) -> Result<(), Failure> {
        if charts.is_empty() {
            return Ok(());
        }
        self.make()?;
        let files = charts
            .iter()
            .map(|chart| (self.path.join(&chart.name), chart));
        let files: Vec<(PathBuf, &ChartFile)> = files.collect();
        for (path, _) in &files {
            user_files::chart_permitted(path, overwrite)?;
        }
        for (path, chart) in &files {
            user_files::write_chart(path, chart.svg.as_bytes(), overwrite)?;
        }
        Ok(())
    }

    /// Nothing is written through a link, and none of its files lies elsewhere.
    fn make(&self) -> Result<(), Failure> {
        let path = self.path.display();
        match fs::symlink_metadata(&self.path) {
            Ok(seen) if seen.is_dir() => Ok(()),
            Ok(_) => Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "{path}: already exists and is not a folder, where the report's charts would \
                     be written; name another report, for example --out other.md"
                ),
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir(&self.path)
                .map_err(|e| {
                    Failure::new(ExitCode::Failed, format!("{path}: can't be created: {e}"))
                }),
            Err(error) => Err(Failure::new(ExitCode::Failed, format!("{path}: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stands_beside_a_file_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str| ChartFolder::beside(&dir.path().join(name));
        let folder = of("my report.md").unwrap();
        assert_eq!(folder.name, "my report-files");
        assert_eq!(folder.path, dir.path().join("my report-files"));
        std::os::unix::fs::symlink("/dev/null", dir.path().join("link.md")).unwrap();
        assert!(of("link.md").is_none());
        assert!(ChartFolder::beside(Path::new("/dev/null")).is_none());
        assert_eq!(
            ChartFolder::beside(Path::new("a.md")).unwrap().path,
            Path::new("a-files")
        );
    }
}
