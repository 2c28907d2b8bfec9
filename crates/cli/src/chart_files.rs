//! The charts of a Markdown report: files of their own in a folder beside it.

use crate::exit::{ExitCode, Failure};
use crate::render::Format;
use crate::user_files;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tidemark_files::read_text;
use tidemark_report::{ChartFile, links_chart};

/// A longer report proves nothing, in bytes.
const LONGEST_REPORT: u64 = 64 << 20;

/// The folder of a report's charts: `out-files` beside `out.md`, `out.txt.files` beside `out.txt`, so that no
/// two reports have the same.
pub struct ChartFolder {
    /// Its name, as the report links it.
    pub name: String,
    path: PathBuf,
}

/// What became of charts that a report has no longer.
#[derive(Default)]
pub struct OldCharts {
    /// How many were removed.
    pub removed: usize,
    /// Names of those that were not.
    pub left: Vec<String>,
}

impl ChartFolder {
    /// None beside what is no file, such as a pipe.
    pub fn beside(report: &Path) -> Option<Self> {
        let is_file = match fs::symlink_metadata(report) {
            Ok(seen) => seen.is_file(),
            Err(_) => true,
        };
        let name = report.file_name().filter(|_| is_file)?;
        let name = match report.file_stem() {
            Some(stem) if report.extension().is_some_and(|e| e == "md") => {
                format!("{}-files", stem.to_string_lossy())
            }
            _ => format!("{}.files", name.to_string_lossy()),
        };
        let path = report.with_file_name(&name);
        Some(Self { name, path })
    }

    /// How it is shown to users.
    pub fn display(&self) -> impl std::fmt::Display {
        self.path.display()
    }

    /// Whether charts can be written, however many; nothing is made.
    ///
    /// # Errors
    /// As [`ChartFolder::write`].
    pub fn permitted(&self, overwrite: bool) -> Result<(), Failure> {
        self.is_there()?;
        for name in self.chart_names() {
            user_files::chart_permitted(&self.path.join(name), overwrite)?;
        }
        Ok(())
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

    /// Names of the charts here that are proven to be of the report at this path: Tidemark wrote both, and
    /// the report links the chart.
    pub fn linked_by(&self, report: &Path) -> Vec<String> {
        if !user_files::is_own(report, Format::Markdown) {
            return Vec::new();
        }
        let text = read_text(report, LONGEST_REPORT).unwrap_or_default();
        let mut names = self.chart_names();
        names.retain(|name| links_chart(&text, &self.name, name) && self.is_own(name));
        names
    }

    /// Removes what the report of before linked and this one, with these charts, does not.
    pub fn clear(&self, linked_before: &[String], charts: &[ChartFile]) -> OldCharts {
        let mut old = OldCharts::default();
        let is_kept = |name: &String| charts.iter().any(|chart| chart.name == *name);
        let mut names = self.chart_names();
        names.retain(|name| !is_kept(name) && self.is_own(name));
        for name in names {
            let is_proven = linked_before.contains(&name);
            match is_proven && fs::remove_file(self.path.join(&name)).is_ok() {
                true => old.removed += 1,
                false => old.left.push(name),
            }
        }
        old
    }

    fn is_own(&self, chart: &str) -> bool {
        user_files::is_own_chart(&self.path.join(chart))
    }

    /// Names of the files here that are called as charts are, in order. A folder behind a link has none.
    fn chart_names(&self) -> Vec<String> {
        let is_folder = fs::symlink_metadata(&self.path).is_ok_and(|seen| seen.is_dir());
        let Some(entries) = is_folder.then(|| fs::read_dir(&self.path).ok()).flatten() else {
            return Vec::new();
        };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_chart_name(name)).collect();
        names.sort();
        names
    }

    /// Nothing is written through a link, and none of its files lies elsewhere.
    fn make(&self) -> Result<(), Failure> {
        if self.is_there()? {
            return Ok(());
        }
        fs::create_dir(&self.path).map_err(|e| {
            let path = self.path.display();
            Failure::new(ExitCode::Failed, format!("{path}: can't be created: {e}"))
        })
    }

    /// Refused where something else is there.
    fn is_there(&self) -> Result<bool, Failure> {
        let path = self.path.display();
        match fs::symlink_metadata(&self.path) {
            Ok(seen) if seen.is_dir() => Ok(true),
            Ok(_) => Err(Failure::new(
                ExitCode::Refused,
                format!(
                    "{path}: already exists and is not a folder, where the report's charts would \
                     be written; name another report, for example --out other.md"
                ),
            )),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Failure::new(ExitCode::Failed, format!("{path}: {error}"))),
        }
    }
}

/// `chart-01.svg`, `chart-112.svg`.
fn is_chart_name(name: &str) -> bool {
    let number = name.strip_prefix("chart-");
    let number = number.and_then(|rest| rest.strip_suffix(".svg"));
    number.is_some_and(|n| n.len() >= 2 && n.bytes().all(|b| b.is_ascii_digit()))
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
        assert_eq!(of("my report.txt").unwrap().name, "my report.txt.files");
        assert_eq!(of("my report").unwrap().name, "my report.files");
        std::os::unix::fs::symlink("/dev/null", dir.path().join("link.md")).unwrap();
        assert!(of("link.md").is_none());
        assert!(ChartFolder::beside(Path::new("/dev/null")).is_none());
        assert_eq!(
            ChartFolder::beside(Path::new("a.md")).unwrap().path,
            Path::new("a-files")
        );
    }

    #[test]
    fn a_chart_is_known_by_its_name() {
        for name in ["chart-01.svg", "chart-99.svg", "chart-100.svg"] {
            assert!(is_chart_name(name), "{name}");
        }
        for name in [
            "chart-1.svg",
            "chart-01.svg~",
            "chart-ab.svg",
            "my-chart-01.svg",
        ] {
            assert!(!is_chart_name(name), "{name}");
        }
    }
}
