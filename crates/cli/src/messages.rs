//! Errors and warnings in the user's language.
//!
//! They are composed in English where they arise, in every crate, which know no language. `[messages]`
//! of the texts has the forms of the commonest, whole or of their parts; here a message is found in them
//! when it is printed. What is found in none stays English.

#[cfg(test)]
mod tests;

use crate::render::language;
use crate::texts::MESSAGES;
use std::borrow::Cow;
use std::sync::OnceLock;
use tidemark_report::Lang;

/// What stands before every complaint.
const MARK: &str = "tidemark: ";
/// Between two parts of a message.
const PART: &str = "; ";
/// Between a name or value and what is wrong with it.
const COLON: &str = ": ";
/// Between what a command complained of and how it ended.
const ENDED: &str = " (exit code ";
/// No form has more parts.
const MOST_PARTS: usize = 4;
/// A longer line is data of somebody's, in bytes.
const LONGEST_LINE: usize = 2048;

static LANG: OnceLock<Lang> = OnceLock::new();

/// Messages are in the language of `--lang` from now on, or the environment's.
pub fn speak(args: &[String]) {
    let mut tag = "auto";
    for (n, word) in args.iter().enumerate() {
        if let Some(given) = word.strip_prefix("--lang=") {
            tag = given;
        } else if word == "--lang" {
            tag = args.get(n + 1).map_or(tag, String::as_str);
        }
    }
    let _first = LANG.set(language(tag));
}

/// Whether messages are not as they were composed.
pub fn is_translated() -> bool {
    LANG.get() == Some(&Lang::Zh)
}

/// The text in the user's language, line by line.
pub fn in_language(text: &str) -> Cow<'_, str> {
    match is_translated() {
        true => Cow::Owned(in_chinese(text)),
        false => Cow::Borrowed(text),
    }
}

/// Why a command ended, as a study's store has it in English: what it complained of, and how it ended in
/// brackets.
pub fn reason(text: &str, lang: Lang) -> Cow<'_, str> {
    if lang == Lang::En {
        return Cow::Borrowed(text);
    }
    let ended = text.strip_suffix(')').and_then(|t| t.rsplit_once(ENDED));
    Cow::Owned(match ended {
        Some((said, how)) => {
            let how = in_chinese(&format!("exit code {how}"));
            format!("{}（{how}）", in_chinese(said))
        }
        None => in_chinese(text),
    })
}

fn in_chinese(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    let said = line.trim();
    let (mark, said) = match said.strip_prefix(MARK) {
        Some(said) => (MARK, said),
        None => ("", said),
    };
    if line.len() > LONGEST_LINE {
        return line.into();
    }
    match translated(said) {
        Some(chinese) => {
            let indent = line.len() - line.trim_start().len();
            let (before, after) = (&line[..indent], &line[line.trim_end().len()..]);
            format!("{before}{mark}{chinese}{after}")
        }
        None => line.into(),
    }
}

/// Part by part; `None` if no part is known.
fn translated(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split(PART).collect();
    let (mut out, mut is_known, mut at) = (String::new(), false, 0);
    while at < parts.len() {
        let most = parts.len().min(at + MOST_PARTS);
        let known = (at + 1..=most).rev().find_map(|end| {
            let text = parts.get(at..end)?.join(PART);
            Some((end, form_of(&text).or_else(|| behind_colon(&text))?))
        });
        let (end, said) = match known {
            Some((end, said)) => (end, Cow::Owned(said)),
            None => (at + 1, Cow::Borrowed(parts[at])),
        };
        if at > 0 {
            let is_asked = out.ends_with('？');
            out += match said {
                Cow::Owned(_) if is_asked => "",
                Cow::Owned(_) => "；",
                Cow::Borrowed(_) => PART,
            };
        }
        is_known |= matches!(said, Cow::Owned(_));
        out += &said;
        at = end;
    }
    is_known.then_some(out)
}

/// A name or value, and a known form of what is wrong with it.
fn behind_colon(text: &str) -> Option<String> {
    let (of, wrong) = text.split_once(COLON)?;
    if of.contains(PART) {
        return None;
    }
    let wrong = form_of(wrong).or_else(|| behind_colon(wrong))?;
    let of = form_of(of).unwrap_or_else(|| of.into());
    Some(format!("{of}：{wrong}"))
}

/// The form that has most in common with the text, filled with the text's values.
fn form_of(text: &str) -> Option<String> {
    let fitting = MESSAGES.iter().filter_map(|(english, chinese)| {
        let values = values(english, text)?;
        let held: usize = values.iter().map(|(_, value)| value.len()).sum();
        Some((text.len() - held, *chinese, values))
    });
    let (_, chinese, values) = fitting.max_by_key(|(common, ..)| *common)?;
    let mut out = String::new();
    let mut rest = chinese;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        let (_, value) = values.iter().find(|(named, _)| *named == name)?;
        add(&mut out, before);
        let value = translated(value).map_or(Cow::Borrowed(*value), Cow::Owned);
        add(&mut out, &value);
        rest = after;
    }
    add(&mut out, rest);
    Some(out)
}

/// Chinese has no blanks between its own characters, but beside a name or number.
fn add(out: &mut String, text: &str) {
    if out.ends_with(' ') && text.starts_with(is_han) {
        let before = out.trim_end_matches(' ').len();
        if out[..before].ends_with(is_han) {
            out.truncate(before);
        }
    }
    let behind = text.trim_start_matches(' ');
    match out.ends_with(is_han) && behind.starts_with(is_han) {
        true => *out += behind,
        false => *out += text,
    }
}

fn is_han(c: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&c)
}

/// The values that a text has in the places of a form, if it is of that form.
fn values<'f, 't>(form: &'f str, text: &'t str) -> Option<Vec<(&'f str, &'t str)>> {
    let mut places = form.split('{');
    let mut rest = text.strip_prefix(places.next()?)?;
    let mut values = Vec::new();
    let mut places = places.peekable();
    while let Some(place) = places.next() {
        let (name, behind) = place.split_once('}')?;
        let value = match places.peek() {
            None => rest.strip_suffix(behind)?,
            Some(_) => rest.split_once(behind)?.0,
        };
        rest = rest.get(value.len() + behind.len()..)?;
        let is_number = value.bytes().all(|c| c.is_ascii_digit());
        let is_cut = value.matches('(').count() != value.matches(')').count();
        let is_other = match name {
            "one_word" => value.contains(' '),
            _ => name.ends_with("number") && !is_number,
        };
        // What stands before a colon is no part of a value that a form begins with.
        let is_named = values.is_empty() && form.starts_with('{') && value.contains(COLON);
        if value.is_empty() || value.contains(PART) || is_cut || is_other || is_named {
            return None;
        }
        values.push((name, value));
    }
    rest.is_empty().then_some(values)
}
