//! A report as files: the document, and beside Markdown the charts that it links.

use crate::chart_files::ChartFolder;
use crate::exit::Failure;
use crate::render::{self, Format};
use crate::texts::reports as texts;
use crate::user_files;
use std::path::Path;
use tidemark_core::record::RunRecord;
use tidemark_report::{Authored, ChartFile, Illustrated, Lang, Many};

/// A document, and the charts that it links.
pub struct Written {
    /// The document.
    pub text: String,
    /// In the order in which it links them.
    pub charts: Vec<ChartFile>,
}

impl From<String> for Written {
    fn from(text: String) -> Self {
        let charts = Vec::new();
        Self { text, charts }
    }
}

impl From<Illustrated> for Written {
    fn from(of: Illustrated) -> Self {
        Self {
            text: render::harmless(of.markdown),
            charts: of.charts,
        }
    }
}

/// The document of one run; as Markdown with its charts where there is a folder for them.
///
/// # Errors
/// As [`render::render_with`].
pub fn of_one(
    record: &RunRecord,
    format: Format,
    lang: Lang,
    authored: &Authored,
    folder: Option<&ChartFolder>,
) -> Result<Written, Failure> {
    let Some(folder) = folder else {
        return Ok(render::render_with(record, format, lang, authored)?.into());
    };
    tidemark_report::markdown_illustrated(record, lang, authored, &folder.name)
        .map(Written::from)
        .map_err(render::of_report)
}

/// The document of several runs, as [`of_one`]. There is none as plain text.
///
/// # Errors
/// [`Failure`] of what can't be drawn or written.
pub fn of_many(
    many: &Many,
    format: Format,
    lang: Lang,
    folder: Option<&ChartFolder>,
) -> Result<Written, Failure> {
    if let Some(folder) = folder {
        return many
            .markdown_illustrated(lang, &folder.name)
            .map(Written::from)
            .map_err(render::of_report);
    }
    let text = match format {
        Format::Html => many.html(lang),
        Format::Json => many.json(),
        Format::Csv => Ok(many.csv()),
        Format::Markdown | Format::Text => many.markdown(lang).map(render::harmless),
    };
    text.map(Written::from).map_err(render::of_report)
}

/// Where a report goes, and its charts.
pub struct ReportFile<'p> {
    path: &'p Path,
    format: Format,
    /// Whether files go that Tidemark did not write.
    overwrite: bool,
    folder: Option<ChartFolder>,
}

impl<'p> ReportFile<'p> {
    /// A report at this path.
    pub fn at(path: &'p Path, format: Format, overwrite: bool) -> Self {
        let beside = (format == Format::Markdown).then(|| ChartFolder::beside(path));
        Self {
            path,
            format,
            overwrite,
            folder: beside.flatten(),
        }
    }

    /// The folder of its charts, if it can have files beside it.
    pub fn folder(&self) -> Option<&ChartFolder> {
        self.folder.as_ref()
    }

    /// Refuses beforehand what [`ReportFile::write`] would refuse, however many charts there will be.
    ///
    /// # Errors
    /// As [`ReportFile::write`].
    pub fn permitted(&self) -> Result<(), Failure> {
        user_files::permitted(self.path, self.format, self.overwrite)?;
        match &self.folder {
            Some(folder) => folder.permitted(self.overwrite),
            None => Ok(()),
        }
    }

    /// Writes the charts, then the document, so that what it links is there. Charts that only the report
    /// of before linked go then. What became of charts is returned, a line each.
    ///
    /// # Errors
    /// [`Failure`] naming the file; [`ExitCode::Refused`](crate::exit::ExitCode::Refused) when something
    /// is there that Tidemark did not write, unless the user insists.
    pub fn write(&self, written: &Written, lang: Lang) -> Result<Vec<String>, Failure> {
        let text = written.text.as_bytes();
        let Some(folder) = &self.folder else {
            user_files::write(self.path, text, self.format, self.overwrite)?;
            return Ok(Vec::new());
        };
        let before = folder.linked_by(self.path);
        folder.write(&written.charts, self.overwrite)?;
        user_files::write(self.path, text, self.format, self.overwrite)?;
        let old = folder.clear(&before, &written.charts);
        let mut said = Vec::new();
        if !written.charts.is_empty() {
            let count = written.charts.len();
            said.push(texts::charts(lang, count, folder.display()));
        }
        if old.removed > 0 {
            said.push(texts::charts_removed(lang, old.removed, folder.display()));
        }
        if !old.left.is_empty() {
            let names = old.left.join(", ");
            said.push(texts::charts_left(lang, folder.display(), names));
        }
        Ok(said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tidemark_report::{CHART_MARK, marked_chart};

    /// A report with so many charts.
    fn report(charts: usize) -> Written {
        let name = |n: usize| format!("chart-{n:02}.svg");
        let links = (1..=charts).map(|n| format!("\n![a chart](r%20x-files/{})\n", name(n)));
        let links: String = links.collect();
        let chart = |n| ChartFile {
            name: name(n),
            svg: marked_chart(&format!("<svg xmlns=\"x\">\n{CHART_MARK}\n</svg>\n")),
        };
        Written {
            text: format!("# r\n{links}\nMade by Tidemark 1\n"),
            charts: (1..=charts).map(chart).collect(),
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A folder with a report of three charts, and the report's path.
    fn with_three_charts() -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r x.md");
        let file = ReportFile::at(&path, Format::Markdown, false);
        file.write(&report(3), Lang::En).unwrap();
        (dir, path)
    }

    #[test]
    fn a_shorter_report_leaves_no_chart_of_the_longer_and_everything_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r x.md");
        let folder = dir.path().join("r x-files");
        let write = |charts: usize, overwrite: bool| {
            let file = ReportFile::at(&path, Format::Markdown, overwrite);
            file.permitted().unwrap();
            let said = file.write(&report(charts), Lang::En).unwrap();
            said.join("\n")
        };
        assert!(!write(5, false).contains("removed"));
        let all = ["01", "02", "03", "04", "05"].map(|n| format!("chart-{n}.svg"));
        assert_eq!(names(&folder), all);
        // The user's, one under the name of ours, and ours of which nothing says whose it is.
        fs::write(folder.join("notes.svg"), "<svg>mine</svg>").unwrap();
        fs::write(folder.join("chart-04.svg"), "<svg>mine</svg>").unwrap();
        fs::copy(folder.join("chart-01.svg"), folder.join("chart-09.svg")).unwrap();
        let file = ReportFile::at(&path, Format::Markdown, false);
        let said = file.write(&report(2), Lang::En).unwrap().join("\n");
        let left = ["01", "02", "04", "09"].map(|n| format!("chart-{n}.svg"));
        let left = [&left[..], &["notes.svg".to_string()]].concat();
        assert_eq!(names(&folder), left);
        assert!(said.contains("2 charts of the earlier report"), "{said}");
        assert!(said.contains("chart-09.svg"), "{said}");
        assert!(!said.contains("chart-04.svg"), "{said}");
        assert_eq!(
            fs::read_to_string(folder.join("chart-04.svg")).unwrap(),
            "<svg>mine</svg>"
        );
        // Without charts, too.
        write(0, true);
        assert_eq!(names(&folder), left[2..]);
    }

    #[test]
    fn a_chart_that_somebody_edited_is_neither_removed_nor_replaced() {
        let (dir, path) = with_three_charts();
        let chart = dir.path().join("r x-files/chart-03.svg");
        let file = ReportFile::at(&path, Format::Markdown, false);
        let edited = fs::read_to_string(&chart).unwrap();
        let edited = edited.replace("</svg>", "<text>the peak</text></svg>");
        fs::write(&chart, &edited).unwrap();
        file.write(&report(2), Lang::En).unwrap();
        let refused = file.write(&report(3), Lang::En).unwrap_err();
        assert!(refused.message.contains("chart-03.svg: already exists"));
        assert_eq!(fs::read_to_string(&chart).unwrap(), edited);
        let insists = ReportFile::at(&path, Format::Markdown, true);
        insists.write(&report(3), Lang::En).unwrap();
        assert_ne!(fs::read_to_string(&chart).unwrap(), edited);
    }

    #[test]
    fn reports_of_one_name_and_several_endings_share_no_chart() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, charts: usize| {
            let path = dir.path().join(name);
            let file = ReportFile::at(&path, Format::Markdown, false);
            let folder = &file.folder().unwrap().name;
            let address = folder.replace(' ', "%20");
            let mut written = report(charts);
            written.text = written.text.replace("r%20x-files", &address);
            file.write(&written, Lang::En).unwrap();
            names(&dir.path().join(folder)).len()
        };
        let others = ["r x.txt", "r x", "r x.markdown"];
        assert_eq!(write("r x.md", 3), 3);
        for name in others {
            assert_eq!(write(name, 2), 2, "{name}");
        }
        assert_eq!(write("r x.md", 1), 1);
        for name in others {
            assert_eq!(write(name, 2), 2, "{name}");
        }
    }

    #[test]
    fn links_in_a_document_of_the_users_prove_nothing() {
        let (dir, path) = with_three_charts();
        let folder = dir.path().join("r x-files");
        let file = ReportFile::at(&path, Format::Markdown, true);
        let own = fs::read_to_string(&path).unwrap() + "\nMy own last words.\n";
        fs::write(&path, own).unwrap();
        let said = file.write(&report(1), Lang::En).unwrap().join("\n");
        assert_eq!(names(&folder).len(), 3);
        assert!(said.contains("chart-02.svg, chart-03.svg"), "{said}");
    }

    #[test]
    fn what_is_in_the_way_of_charts_is_told_beforehand() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.md");
        let file = ReportFile::at(&path, Format::Markdown, false);
        file.permitted().unwrap();
        assert!(names(dir.path()).is_empty());
        fs::write(dir.path().join("r-files"), "mine").unwrap();
        let refused = file.permitted().unwrap_err();
        assert!(refused.message.contains("r-files: already exists"));
        fs::remove_file(dir.path().join("r-files")).unwrap();
        fs::create_dir(dir.path().join("r-files")).unwrap();
        fs::write(dir.path().join("r-files/chart-02.svg"), "mine").unwrap();
        let refused = file.permitted().unwrap_err();
        assert!(refused.message.contains("chart-02.svg: already exists"));
        let insists = ReportFile::at(&path, Format::Markdown, true);
        insists.permitted().unwrap();
        // A page has none.
        ReportFile::at(&path, Format::Html, false)
            .permitted()
            .unwrap();
    }
}
