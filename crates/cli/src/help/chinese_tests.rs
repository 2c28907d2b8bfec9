//! Every page of help is in Chinese.

use super::*;
use crate::help::unwrapped;
use crate::{args, frontend};
use std::collections::BTreeSet;

/// Pages by their commands, in English.
fn pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    let mut program = unwrapped(args::command());
    program.build();
    add("", program, &mut pages);
    for frontend in frontend::all() {
        let grammar = unwrapped((frontend.grammar)().expect("a grammar"));
        add(frontend.word, grammar, &mut pages);
    }
    pages.extend(crate::compat::pages_of_help());
    pages
}

fn add(path: &str, mut command: clap::Command, pages: &mut Vec<(String, String)>) {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        add(
            &format!("{path} {}", below.get_name()),
            below.clone(),
            pages,
        );
    }
    pages.push((path.into(), command.render_help().to_string()));
}

/// Lines in which nothing is Chinese, of a page that is, but those of names, values and command lines.
fn english(page: &str) -> impl Iterator<Item = &str> {
    let is_foreign = |line: &&str| {
        let words = line.trim();
        let is_command = words.starts_with("tidemark ") || words.contains(" > ");
        // Behind a name, or of a heading.
        let said = match line.starts_with(' ') {
            true => words.rsplit_once("  ").map_or(words, |(_, said)| said),
            false => words,
        };
        let is_said = said
            .split([' ', ':'])
            .filter(|word| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase()));
        // Of a sentence that is half in Chinese many are left.
        let most = if line.is_ascii() { 0 } else { 4 };
        !is_command && is_said.count() > most
    };
    page.lines().filter(is_foreign)
}

#[test]
fn every_line_of_every_page_is_in_chinese() {
    let pages = pages();
    assert!(pages.len() > 60, "{} pages", pages.len());
    let mut left = BTreeSet::new();
    for (command, page) in &pages {
        let chinese = super::page(page, usize::MAX);
        for line in english(&chinese) {
            left.insert(format!("{command}: {line}"));
        }
    }
    let lines: Vec<&str> = left.iter().map(String::as_str).collect();
    assert!(
        lines.is_empty(),
        "{} lines:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

#[test]
fn every_text_stands_on_a_page() {
    let pages = pages()
        .into_iter()
        .map(|(_, page)| page.replace('\n', " ") + &page);
    let pages: String = pages.collect();
    let mut unused = HELP.iter().filter(|(english, _)| !pages.contains(english));
    assert_eq!(unused.next(), None);
}

#[test]
fn a_line_is_parted_into_names_texts_and_values() {
    let english = "Usage: tidemark show [OPTIONS] <RUN>\n\nOptions:\n      --json        Print the \
                   whole record as JSON\n      --lang <LANG>  Language of the output [default: auto] \
                   [possible values: auto, en, zh]\n  x  not known\n";
    let chinese = "用法：tidemark show [选项] <RUN>\n\n选项：\n      --json        以 JSON 打印完整记录\n      \
                   --lang <LANG>  输出语言 [默认：auto] [可选：auto, en, zh]\n  x  not known\n";
    assert_eq!(page(english, 100), chinese);
}

#[test]
fn a_long_text_goes_on_below_its_beginning() {
    let english = "  --plain        Print one line per second instead of the full-screen view";
    let narrow = page(english, 36);
    let lines: Vec<&str> = narrow.lines().collect();
    assert!(lines.len() > 1, "{narrow}");
    assert!(lines.iter().all(|l| display_width(l) <= 36), "{narrow}");
    let below = " ".repeat(17);
    assert!(
        lines.iter().skip(1).all(|l| l.starts_with(&below)),
        "{narrow}"
    );
}
