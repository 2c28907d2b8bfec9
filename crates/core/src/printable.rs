//! Text from elsewhere, made harmless for a terminal.

use std::borrow::Cow;

/// The text with everything that a terminal would obey, or that would turn the order of what
/// follows, written as an escape: control characters (ECMA-48), and Unicode's signs of direction
/// and separators of lines (UAX #9, CVE-2021-42574).
///
/// ```
/// use tidemark_core::printable;
/// assert_eq!(printable("a\u{1b}[2Jb\n"), "a\\u{1b}[2Jb\\n");
/// assert_eq!(printable("基线 é"), "基线 é");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_obeyed) {
        Cow::Owned(text.chars().fold(String::new(), escaped))
    } else {
        Cow::Borrowed(text)
    }
}

/// The same for text of several lines, whose line feeds stay.
///
/// ```
/// assert_eq!(tidemark_core::printable_lines("a\r\nb\n"), "a\\r\nb\n");
/// ```
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let harmful = |c| c != '\n' && is_obeyed(c);
    if !text.chars().any(harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().fold(String::new(), |mut out, c| {
        if c == '\n' {
            out.push(c);
            out
        } else {
            escaped(out, c)
        }
    }))
}

/// The same for a document, whose line feeds and tabs stay. Escapes are JSON's, so that JSON stays what
/// it is.
///
/// ```
/// assert_eq!(tidemark_core::printable_document("a\tb\u{1b}[2J\r\n"), "a\tb\\u001b[2J\\u000d\n");
/// ```
pub fn printable_document(text: &str) -> Cow<'_, str> {
    let harmful = |c| !matches!(c, '\n' | '\t') && is_obeyed(c);
    if !text.chars().any(harmful) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for c in text.chars() {
        match harmful(c) {
            // All of them are in the plane of four digits.
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn escaped(mut out: String, c: char) -> String {
    if is_obeyed(c) {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
    out
}

fn is_obeyed(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
