//! Pages of help in Chinese.
//!
//! clap, and the tables of options, have them in English. Of a page that is to be printed each line is
//! parted here into its columns, and each text that `texts/help.zh.toml` has is replaced. What stands in
//! none stays as it is: names, values, command lines.

use crate::texts::HELP;
use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter, wrap};
use unicode_linebreak::linebreaks;

/// A page, not wrapped, in Chinese, wrapped to this many columns.
pub fn page(english: &str, width: usize) -> String {
    let lines: Vec<&str> = english.lines().collect();
    let parts = lines.chunk_by(|line, next| is_prose(line) && is_prose(next));
    let parts = parts.map(|part| match known(&part.join(" ")) {
        Some(chinese) => wrapped(
            &Line {
                text: chinese.into(),
                column: 0,
            },
            width,
        ),
        None => {
            let lines = part.iter().map(|text| wrapped(&line(text), width));
            lines.collect::<Vec<_>>().join("\n")
        }
    });
    parts.map(|part| part + "\n").collect()
}

/// Whether a line may be one of several of a paragraph.
fn is_prose(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(' ')
}

/// A line, and the column at which its last text begins.
struct Line {
    text: String,
    column: usize,
}

/// Breaks between the words of a text, and goes on below its beginning.
fn wrapped(line: &Line, width: usize) -> String {
    if display_width(&line.text) <= width {
        return line.text.clone();
    }
    // A page that is too narrow for columns goes on below the names.
    let column = if line.column + 16 < width {
        line.column
    } else {
        8
    };
    let below = " ".repeat(column);
    let options = Options::new(width)
        .word_separator(WordSeparator::Custom(words))
        .word_splitter(WordSplitter::NoHyphenation)
        .break_words(false)
        .subsequent_indent(&below);
    wrap(&line.text, options).join("\n")
}

/// What no line is broken in: Chinese has no spaces (UAX #14), and a name or a URL stays whole.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let may_break = |(at, _): &(usize, _)| {
        let (before, after) = line.split_at(*at);
        let is_ascii = |c: Option<char>| c.is_some_and(|c| c.is_ascii());
        before.ends_with(' ') || !is_ascii(before.chars().last()) || !is_ascii(after.chars().next())
    };
    let mut start = 0;
    let breaks = linebreaks(line).filter(may_break);
    Box::new(breaks.filter_map(move |(end, _)| {
        let word = line.get(start..end)?;
        start = end;
        Some(Word::from(word))
    }))
}

fn line(english: &str) -> Line {
    let end = english.trim_end();
    let start = end.len() - end.trim_start().len();
    let (indent, text) = end.split_at(start);
    let whole = translated(text).map(|chinese| (start, chinese));
    let found = whole
        .or_else(|| columns(text).find_map(|at| Some((start + at, translated(text.get(at..)?)?))));
    let Some((at, chinese)) = found else {
        let column = columns(text).last().unwrap_or(0) + start;
        let text = usage(text).map_or_else(|| end.into(), |usage| format!("{indent}{usage}"));
        return Line { text, column };
    };
    let before = end.get(..at).unwrap_or_default();
    Line {
        text: format!("{before}{chinese}"),
        column: display_width(before),
    }
}

/// Where columns begin: behind two spaces or more.
fn columns(text: &str) -> impl Iterator<Item = usize> {
    let gaps = text.match_indices(' ').map(|(at, _)| at + 1);
    gaps.filter(|at| {
        let (before, rest) = text.split_at(*at);
        before.ends_with("  ") && !rest.starts_with(' ')
    })
}

fn usage(text: &str) -> Option<String> {
    let how = text.strip_prefix("Usage: ")?;
    let words = [
        ("[OPTIONS]", "[选项]"),
        ("[options]", "[选项]"),
        ("[OPTION]", "[选项]"),
        ("[FLAGS]", "[选项]"),
        ("<COMMAND>", "<命令>"),
        ("[COMMAND]", "[命令]"),
        ("Options of a command: ", "命令的选项："),
    ];
    let how = words
        .iter()
        .fold(how.to_string(), |how, (english, chinese)| {
            how.replace(english, chinese)
        });
    Some(format!("用法：{how}"))
}

/// A text with what stands around it: a colon behind, a name before, values in brackets.
fn translated(text: &str) -> Option<String> {
    if let Some(chinese) = known(text) {
        return Some(chinese.into());
    }
    if let Some(title) = text.strip_suffix(':') {
        return Some(format!("{}：", translated(title)?));
    }
    if let Some(bracket) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let is_one = bracket.contains(": ") && !bracket.contains(']');
        if is_one {
            return Some(format!("[{}]", values(bracket)));
        }
    }
    if let Some((text, bracket)) = text.strip_suffix(']').and_then(|t| t.rsplit_once(" [")) {
        return Some(format!("{} [{}]", translated(text)?, values(bracket)));
    }
    let of = text.strip_suffix(" options");
    if let Some(name) = of.filter(|name| !name.contains(' ')) {
        return Some(format!("{name} 的选项"));
    }
    let (before, after) = text.split_once(": ")?;
    match (known(before), translated(after)) {
        (None, None) => None,
        (before_zh, after_zh) => Some(format!(
            "{}：{}",
            before_zh.unwrap_or(before),
            after_zh.as_deref().unwrap_or(after)
        )),
    }
}

/// What an option is without being given, or what it can be.
fn values(bracket: &str) -> String {
    for (english, chinese) in [
        ("default: ", "默认："),
        ("possible values: ", "可选："),
        ("aliases: ", "别名："),
    ] {
        if let Some(values) = bracket.strip_prefix(english) {
            return format!("{chinese}{}", known(values).unwrap_or(values));
        }
    }
    known(bracket).unwrap_or(bracket).into()
}

fn known(english: &str) -> Option<&'static str> {
    let at = HELP
        .binary_search_by(|(text, _)| (*text).cmp(english))
        .ok()?;
    HELP.get(at).map(|(_, chinese)| *chinese)
}

#[cfg(test)]
#[path = "chinese_tests.rs"]
mod tests;
