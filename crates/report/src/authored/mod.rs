//! What a report's author writes: sections of Markdown, each with a place, in which figures stand by
//! reference, so that text and numbers can't drift apart.

mod html;
mod lines;
mod reference;
mod sections;

pub(crate) use reference::Reference;
pub use sections::AuthoredSection;

use crate::document::{Block, Document, DocumentPart, Role};
use crate::texts::Texts;
use std::collections::BTreeMap;
use tidemark_core::ReportPlace;

/// An author's own text in a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authored {
    /// Instead of the report's own title.
    pub title: Option<String>,
    /// In the order of the file.
    pub sections: Vec<AuthoredSection>,
    /// Pictures by their path from the working folder ([`AuthoredSection::picture`]): two texts may each
    /// have a `plan.png`.
    pub pictures: BTreeMap<String, Picture>,
}

/// A picture that a page holds itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// `image/png`, …
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

/// What is wrong with an author's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct AuthoredError {
    /// The line of the text, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub why: String,
}

/// What a reference stands for; an error says why there is nothing.
pub(crate) type Resolve<'r> = &'r dyn Fn(&Reference) -> Result<String, String>;

impl Authored {
    /// Whether there is nothing to add.
    pub fn is_empty(&self) -> bool {
        self.title.is_none() && self.sections.is_empty()
    }

    /// Reads a Markdown text. Its first heading is the title if it is of the first level. Each other
    /// heading of the first two levels begins a section; `{place=analysis}` at its end names the place,
    /// or else its words do. What stands before the first section is of the purpose.
    ///
    /// # Errors
    /// [`AuthoredError`] for a place that is not known.
    ///
    /// ```
    /// use tidemark_report::Authored;
    /// let text = "# Two disks\n\n## Purpose\n\nWhich one?\n\n## Result {place=conclusion}\n\nB.\n";
    /// let authored = Authored::parse(text)?;
    /// assert_eq!(authored.title.as_deref(), Some("Two disks"));
    /// assert_eq!(authored.sections.len(), 2);
    /// # Ok::<(), tidemark_report::AuthoredError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, AuthoredError> {
        sections::parse(text)
    }

    /// The paths of its pictures, the line of the first mention of each, and how many there are: a page
    /// holds a picture as often as it is mentioned.
    pub fn picture_paths(&self) -> BTreeMap<String, (usize, u64)> {
        let mut paths = BTreeMap::new();
        for section in &self.sections {
            for (path, line) in html::pictures(&section.text) {
                let (_, count) = paths.entry(path).or_insert((section.line + line, 0));
                *count += 1;
            }
        }
        paths
    }
}

impl Document {
    /// With an author's title and sections in their places.
    ///
    /// # Errors
    /// [`AuthoredError`] for a reference that stands for nothing.
    pub fn with(
        mut self,
        authored: &Authored,
        resolve: Resolve<'_>,
    ) -> Result<Self, AuthoredError> {
        if let Some(title) = &authored.title {
            self.title.clone_from(title);
        }
        // The last of the same place stands behind the others.
        let mut sections: Vec<&AuthoredSection> = authored.sections.iter().collect();
        sections.sort_by_key(|section| section.place);
        for section in sections {
            let text = reference::SectionText {
                text: &section.text,
                line: section.line + 1,
                lenient: section.lenient,
            };
            let markdown = text.resolved(resolve)?;
            let title = match section.title.as_str() {
                "" => place_title(self.texts(), section.place).to_string(),
                title => reference::SectionText {
                    text: title,
                    line: section.line,
                    ..text
                }
                .resolved(resolve)?,
            };
            let block = Block::Authored {
                html: html::page(&markdown, &authored.pictures, section),
                markdown: html::from_here(markdown, section),
            };
            let part = DocumentPart {
                role: Role::Authored(section.place),
                ..DocumentPart::new(title, vec![block])
            };
            let at = self.place_of(section.place);
            self.parts.insert(at, part);
        }
        Ok(self)
    }

    /// Where the next section of a place goes.
    fn place_of(&self, place: ReportPlace) -> usize {
        let behind = |is: &dyn Fn(Role) -> bool| {
            let last = self.parts.iter().rposition(|part| is(part.role));
            last.map(|at| at + 1)
        };
        let own = behind(&|role| role == Role::Authored(place));
        let opening = || {
            let first = [ReportPlace::Conclusion, ReportPlace::Purpose];
            behind(&|role| {
                role == Role::Answer || first.iter().any(|place| role == Role::Authored(*place))
            })
            .unwrap_or(0)
        };
        own.unwrap_or_else(|| match place {
            ReportPlace::Conclusion | ReportPlace::Purpose => opening(),
            ReportPlace::Topology | ReportPlace::Machines | ReportPlace::Changes => {
                let before = [ReportPlace::Topology, ReportPlace::Machines];
                behind(&|role| {
                    role == Role::Environment
                        || before.iter().any(|place| role == Role::Authored(*place))
                })
                .unwrap_or_else(opening)
            }
            ReportPlace::Analysis => {
                behind(&|role| role == Role::Results).unwrap_or(self.parts.len())
            }
        })
    }
}

fn place_title(t: &Texts, place: ReportPlace) -> &'static str {
    match place {
        ReportPlace::Conclusion => t.place_conclusion,
        ReportPlace::Purpose => t.place_purpose,
        ReportPlace::Topology => t.place_topology,
        ReportPlace::Machines => t.place_machines,
        ReportPlace::Changes => t.place_changes,
        ReportPlace::Analysis => t.place_analysis,
    }
}
