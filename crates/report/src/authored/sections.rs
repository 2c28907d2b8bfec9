//! A Markdown text to sections.

use super::lines::LineEnds;
use super::{Authored, AuthoredError};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::ops::Range;
use std::path::Path;
use tidemark_core::ReportPlace;

/// A section of an author's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthoredSection {
    /// Where it stands.
    pub place: ReportPlace,
    /// Its heading; empty for the place's own.
    pub title: String,
    /// Markdown, without the heading.
    pub text: String,
    /// Lines of the file before it, for messages.
    pub line: usize,
    /// Whether a figure that there is not is a dash: a study's text is older than its runs.
    pub lenient: bool,
    /// The folder of its text, from which its pictures are named; empty for the working folder.
    pub folder: String,
}

impl AuthoredSection {
    /// The path of a picture from the working folder.
    pub fn picture(&self, path: &str) -> String {
        match self.folder.as_str() {
            "" => path.into(),
            folder => Path::new(folder).join(path).display().to_string(),
        }
    }
}

/// A heading of the first two levels.
struct Heading {
    level: HeadingLevel,
    /// The bytes of the text that it takes.
    at: Range<usize>,
    title: String,
}

pub(super) fn parse(text: &str) -> Result<Authored, AuthoredError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut headings = headings(text);
    let mut authored = Authored::default();
    let mut from = 0;
    let nothing_before = |at: usize| text.get(..at).is_none_or(|t| t.trim().is_empty());
    let first_level = headings.iter().filter(|h| h.level == HeadingLevel::H1);
    let only = first_level.count() == 1;
    // One that names a place begins a section, where others of its level do.
    let begins_a_section = |title: &str| {
        let (title, named) = without_place(title);
        named.is_some() || !only && ReportPlace::of_heading(title).is_some()
    };
    if headings.first().is_some_and(|h| {
        h.level == HeadingLevel::H1 && nothing_before(h.at.start) && !begins_a_section(&h.title)
    }) {
        let title = headings.remove(0);
        authored.title = Some(title.title).filter(|title| !title.is_empty());
        from = title.at.end;
    }
    let lines = LineEnds::of(text);
    let line = |at: usize| lines.before(at);
    let end = headings.first().map_or(text.len(), |h| h.at.start);
    let mut add = |place, title: String, at: Range<usize>| {
        let body = text.get(at.clone()).unwrap_or_default();
        if !body.trim().is_empty() || !title.is_empty() {
            authored.sections.push(AuthoredSection {
                place,
                title,
                line: line(at.start),
                text: body.to_string(),
                lenient: false,
                folder: String::new(),
            });
        }
    };
    add(ReportPlace::Purpose, String::new(), from..end);
    for (n, heading) in headings.iter().enumerate() {
        let end = headings.get(n + 1).map_or(text.len(), |h| h.at.start);
        let (title, named) = without_place(&heading.title);
        let place = match named {
            Some(name) => name.parse().map_err(|why| AuthoredError {
                line: line(heading.at.start) + 1,
                why,
            })?,
            None => ReportPlace::of_heading(title).unwrap_or(ReportPlace::Analysis),
        };
        add(place, title.into(), heading.at.end..end);
    }
    Ok(authored)
}

fn headings(text: &str) -> Vec<Heading> {
    let mut found = Vec::new();
    let mut open: Option<Heading> = None;
    let mut depth = 0usize;
    for (event, at) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            // One in a quotation or a list is no section's.
            Event::Start(Tag::Heading { level, .. }) if depth == 0 && level <= HeadingLevel::H2 => {
                let title = String::new();
                open = Some(Heading { level, at, title });
            }
            Event::End(TagEnd::Heading(_)) => found.extend(open.take()),
            // HTML is shown as it is typed.
            Event::Text(words) | Event::Code(words) | Event::InlineHtml(words) => {
                if let Some(heading) = &mut open {
                    heading.title += &words;
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some(heading) = &mut open {
                    heading.title.push(' ');
                }
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    found
}

/// A heading without `{place=…}` at its end, and the place.
fn without_place(title: &str) -> (&str, Option<&str>) {
    let inside = |title: &'_ str| -> Option<(usize, usize)> {
        let from = title.rfind("{place=")?;
        title
            .trim_end()
            .ends_with('}')
            .then_some((from, title.trim_end().len() - 1))
    };
    match inside(title) {
        Some((from, to)) => {
            let name = title.get(from + "{place=".len()..to).unwrap_or_default();
            (
                title.get(..from).unwrap_or_default().trim(),
                Some(name.trim()),
            )
        }
        None => (title.trim(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_begin_sections_in_their_places() {
        let text = "# Report\n\nWhy we did it.\n\n## 集群拓扑\n\nThree nodes.\n\n```sh\n# no heading\n```\n\
                    ## What it means {place=conclusion}\n\nBuy it.\n\n### Detail\n\nMore.\n\n## Thanks\n\nAll.\n";
        let authored = parse(text).unwrap();
        assert_eq!(authored.title.as_deref(), Some("Report"));
        let told: Vec<(ReportPlace, &str, usize)> = authored
            .sections
            .iter()
            .map(|s| (s.place, s.title.as_str(), s.line))
            .collect();
        assert_eq!(
            told,
            [
                (ReportPlace::Purpose, "", 1),
                (ReportPlace::Topology, "集群拓扑", 5),
                (ReportPlace::Conclusion, "What it means", 12),
                (ReportPlace::Analysis, "Thanks", 20),
            ]
        );
        assert!(authored.sections[1].text.contains("# no heading"));
        assert!(authored.sections[2].text.contains("### Detail"));
    }

    #[test]
    fn a_first_heading_that_names_a_place_is_no_title() {
        let text = "# 测试目的\n\nWhy.\n\n# 测试环境 {place=machines}\n\nFour.\n";
        let authored = parse(text).unwrap();
        assert_eq!(authored.title, None);
        let alone = parse("# 四台主机的对比\n\n## 测试目的\n\nWhy.\n").unwrap();
        assert_eq!(alone.title.as_deref(), Some("四台主机的对比"));
        let told = authored
            .sections
            .iter()
            .map(|s| (s.place, s.title.as_str()));
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                (ReportPlace::Purpose, "测试目的"),
                (ReportPlace::Machines, "测试环境")
            ]
        );
    }

    #[test]
    fn a_heading_keeps_what_is_typed() {
        let authored = parse("## Sizes <b>& more</b>\n\nx\n\nTwo\nlines\n---\n\ny\n").unwrap();
        let titles = authored.sections.iter().map(|s| s.title.as_str());
        assert_eq!(
            titles.collect::<Vec<_>>(),
            ["Sizes <b>& more</b>", "Two lines"]
        );
    }

    #[test]
    fn a_long_text_is_read_in_time() {
        // A mebibyte of headings and pictures: counting lines from the start each time takes minutes.
        let text = "## a\n![](b.png)\n".repeat((1 << 20) / 17);
        let start = std::time::Instant::now();
        let authored = parse(&text).unwrap();
        let paths = authored.picture_paths();
        assert_eq!(authored.sections.len(), paths["b.png"].1 as usize);
        let one = format!("## a\n\n{}", "![](b.png)\n".repeat((1 << 20) / 11));
        assert_eq!(parse(&one).unwrap().picture_paths()["b.png"].0, 3);
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    #[test]
    fn a_place_that_is_not_known_names_the_nearest() {
        let error = parse("Text.\n\n## X {place=conclusoin}\n").unwrap_err();
        assert_eq!(error.line, 3);
        assert!(error.why.contains("did you mean conclusion?"), "{error}");
        // A text without headings is the purpose, an empty one nothing.
        assert_eq!(parse("Only this.").unwrap().sections.len(), 1);
        assert!(parse(" \n\n").unwrap().is_empty());
    }
}
