//! An author's Markdown on a page: no HTML of its own, no script, nothing from a network.

use super::lines::LineEnds;
use super::{AuthoredSection, Picture};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::BTreeMap;

fn parser(markdown: &str) -> Parser<'_> {
    Parser::new_ext(
        markdown,
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH,
    )
}

/// Paths of pictures, and the lines before them.
pub(super) fn pictures(markdown: &str) -> Vec<(String, usize)> {
    let lines = LineEnds::of(markdown);
    let events = parser(markdown).into_offset_iter();
    let found = events.filter_map(|(event, at)| match event {
        Event::Start(Tag::Image { dest_url, .. }) => {
            Some((dest_url.to_string(), lines.before(at.start) + 1))
        }
        _ => None,
    });
    found.collect()
}

/// As HTML. Headings are below those of the report; HTML in the text is shown as it is typed.
pub(super) fn page(
    markdown: &str,
    pictures: &BTreeMap<String, Picture>,
    section: &AuthoredSection,
) -> String {
    let of = |path: &str| pictures.get(&section.picture(path));
    let events = parser(markdown).flat_map(|event| event_of(event, &of));
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

/// Markdown whose pictures are named from the working folder, not from that of their text.
pub(super) fn from_here(markdown: String, section: &AuthoredSection) -> String {
    if section.folder.is_empty() {
        return markdown;
    }
    let mut out = String::with_capacity(markdown.len());
    let mut from = 0;
    for (event, at) in parser(&markdown).into_offset_iter() {
        let Event::Start(Tag::Image { dest_url, .. }) = event else {
            continue;
        };
        let inside = markdown.get(at.clone()).unwrap_or_default();
        // The address is behind the words; one with escapes, or by reference, stays as it is.
        if let Some(place) = inside.rfind(&*dest_url).filter(|_| !dest_url.is_empty()) {
            let start = at.start + place;
            out += markdown.get(from..start).unwrap_or_default();
            out += &section.picture(&dest_url);
            from = start + dest_url.len();
        }
    }
    out += markdown.get(from..).unwrap_or_default();
    out
}

fn event_of<'e, 'p>(
    event: Event<'e>,
    pictures: &dyn Fn(&str) -> Option<&'p Picture>,
) -> Vec<Event<'e>> {
    vec![match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: below(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(below(level))),
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            title,
            id,
        }) => Event::Start(Tag::Link {
            link_type,
            dest_url: harmless(dest_url),
            title,
            id,
        }),
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            title,
            id,
        }) => {
            let dest_url = match pictures(&dest_url) {
                Some(picture) => data_url(picture),
                None => "".into(),
            };
            Event::Start(Tag::Image {
                link_type,
                dest_url,
                title,
                id,
            })
        }
        // A wide table scrolls by itself.
        Event::Start(Tag::Table(columns)) => {
            return vec![
                Event::Html("<div class=\"scroll\">".into()),
                Event::Start(Tag::Table(columns)),
            ];
        }
        Event::End(TagEnd::Table) => {
            return vec![Event::End(TagEnd::Table), Event::Html("</div>".into())];
        }
        event => event,
    }]
}

fn below(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 | HeadingLevel::H2 | HeadingLevel::H3 => HeadingLevel::H3,
        _ => HeadingLevel::H4,
    }
}

/// An address that a page may link to; others lead nowhere.
fn harmless(url: CowStr<'_>) -> CowStr<'_> {
    let lower = url.trim_start().to_ascii_lowercase();
    let known = ["http://", "https://", "mailto:", "#"];
    let has_scheme = lower
        .split(['/', '?', '#'])
        .next()
        .is_some_and(|s| s.contains(':'));
    match known.iter().any(|scheme| lower.starts_with(scheme)) || !has_scheme {
        true => url,
        false => "".into(),
    }
}

fn data_url(picture: &Picture) -> CowStr<'static> {
    let bytes = STANDARD.encode(&picture.bytes);
    format!("data:{};base64,{bytes}", picture.media_type).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(folder: &str) -> AuthoredSection {
        AuthoredSection {
            place: tidemark_core::ReportPlace::Analysis,
            title: String::new(),
            text: String::new(),
            line: 0,
            lenient: false,
            folder: folder.into(),
        }
    }

    #[test]
    fn pictures_of_two_texts_with_one_name_are_two() {
        let text = "![one](plan.png) and ![a [b] c](plan.png \"the plan\")\n";
        let said = from_here(text.into(), &section("b/study"));
        assert_eq!(
            said,
            "![one](b/study/plan.png) and ![a [b] c](b/study/plan.png \"the plan\")\n"
        );
        let picture = |byte| Picture {
            media_type: "image/png",
            bytes: vec![byte; 3],
        };
        let pictures = [("a/plan.png", 1), ("b/plan.png", 2)];
        let pictures = pictures.map(|(path, byte)| (path.to_string(), picture(byte)));
        let pictures = BTreeMap::from(pictures);
        let shown = ["a", "b"].map(|folder| page(text, &pictures, &section(folder)));
        assert!(
            shown[0].contains("AQEB") && shown[1].contains("AgIC"),
            "{shown:?}"
        );
        assert_eq!(from_here(text.into(), &section("")), text);
    }

    #[test]
    fn a_text_can_hold_nothing_that_runs() {
        let none = BTreeMap::new();
        let said = page(
            "<script>alert(1)</script>\n\n[a](javascript:alert(1)) [b](https://example.org)\n\n# Big <b>x</b>",
            &none,
            &section(""),
        );
        assert!(
            !said.contains("<script") && !said.contains("javascript:"),
            "{said}"
        );
        assert!(!said.contains("<b>") && said.contains("<h3>"), "{said}");
        assert!(said.contains("href=\"https://example.org\""), "{said}");
    }

    #[test]
    fn pictures_are_in_the_page() {
        let text = "One.\n\n![the plan](plan.png)\n";
        assert_eq!(pictures(text), [("plan.png".to_string(), 3)]);
        let picture = Picture {
            media_type: "image/png",
            bytes: vec![1, 2, 3],
        };
        let said = page(
            text,
            &BTreeMap::from([("plan.png".into(), picture)]),
            &section(""),
        );
        assert!(
            said.contains("src=\"data:image/png;base64,AQID\"")
                && said.contains("alt=\"the plan\""),
            "{said}"
        );
    }
}
