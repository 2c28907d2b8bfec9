//! An author's Markdown on a page: no HTML of its own, no script, nothing from a network.

use super::Picture;
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
    let events = parser(markdown).into_offset_iter();
    let found = events.filter_map(|(event, at)| match event {
        Event::Start(Tag::Image { dest_url, .. }) => {
            let before = markdown.get(..at.start).unwrap_or_default();
            Some((dest_url.to_string(), before.matches('\n').count() + 1))
        }
        _ => None,
    });
    found.collect()
}

/// As HTML. Headings are below those of the report; HTML in the text is shown as it is typed.
pub(super) fn page(markdown: &str, pictures: &BTreeMap<String, Picture>) -> String {
    let events = parser(markdown).flat_map(|event| event_of(event, pictures));
    let mut out = String::new();
    html::push_html(&mut out, events);
    out
}

fn event_of<'e>(event: Event<'e>, pictures: &BTreeMap<String, Picture>) -> Vec<Event<'e>> {
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
            let dest_url = match pictures.get(&*dest_url) {
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

    #[test]
    fn a_text_can_hold_nothing_that_runs() {
        let none = BTreeMap::new();
        let said = page(
            "<script>alert(1)</script>\n\n[a](javascript:alert(1)) [b](https://example.org)\n\n# Big <b>x</b>",
            &none,
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
        let said = page(text, &BTreeMap::from([("plan.png".into(), picture)]));
        assert!(
            said.contains("src=\"data:image/png;base64,AQID\"")
                && said.contains("alt=\"the plan\""),
            "{said}"
        );
    }
}
