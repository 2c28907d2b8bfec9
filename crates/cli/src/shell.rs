//! `completions` and `man`: what shells and readers of manuals are told of the command line.

use crate::exit::{ExitCode, Failure};
use crate::secrets::redact;
use crate::stdio::{print, print_data};
use crate::{args, frontend, messages, user_files};
use std::fs::{self, File};
use tidemark_core::shell_word;
use tidemark_files::{Replace, write};

/// A command line as it may be shown and typed: without passwords, quoted where a shell would read
/// something else.
pub fn line(words: &[String]) -> String {
    let quoted = |word: &String| match word.split_once('=') {
        Some((name, value)) if shell_word(name) == name => {
            format!("{name}={}", assigned(value))
        }
        _ => shell_word(word),
    };
    let words: Vec<String> = redact(words).iter().map(quoted).collect();
    words.join(" ")
}

fn assigned(value: &str) -> String {
    match value.is_empty() {
        true => String::new(),
        false => shell_word(value),
    }
}

/// Prints what lets a shell complete the command line.
pub fn completions(words: &args::Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(words.shell, &mut whole()?, "tidemark", &mut script);
    print_data(&String::from_utf8_lossy(&script));
    Ok(ExitCode::Success)
}

/// Writes a manual page for each command.
pub fn man(words: &args::Man) -> Result<ExitCode, Failure> {
    let folder = &words.dir;
    let failed = |e: std::io::Error| {
        let shown = folder.display();
        Failure::new(ExitCode::Failed, format!("{shown}: cannot be created: {e}"))
    };
    let mut whole = whole()?.disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    render(&whole, &mut pages).map_err(failed)?;
    fs::create_dir_all(folder).map_err(failed)?;
    let count = pages.len();
    for (name, text) in pages {
        let path = folder.join(name);
        write(&path, &text, Replace::Known(&is_page)).map_err(|e| user_files::failed(&path, &e))?;
    }
    let said = format!(
        "{count} pages in {shown}; read one with: man {shown}/tidemark.1\n",
        shown = folder.display()
    );
    print(&messages::in_language(&said));
    Ok(ExitCode::Success)
}

type Page = (String, Vec<u8>);

/// The pages of a command that is built, and of those below it.
fn render(command: &clap::Command, pages: &mut Vec<Page>) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        render(below, pages)?;
    }
    let page = clap_mangen::Man::new(with_examples_at_the_end(command))
        .source(concat!("tidemark ", env!("TIDEMARK_VERSION")))
        .manual("Tidemark");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = breakable(&String::from_utf8_lossy(&text));
    pages.push((page.get_filename(), text.into_bytes()));
    Ok(())
}

/// A page has no place before its options: its examples stand behind them.
fn with_examples_at_the_end(command: &clap::Command) -> clap::Command {
    let (before, after) = (command.get_before_help(), command.get_after_help());
    let parts = [before, after].into_iter().flatten();
    let parts: Vec<String> = parts.map(ToString::to_string).collect();
    match parts.is_empty() {
        true => command.clone(),
        false => command.clone().after_help(parts.join("\n\n")),
    }
}

/// Lets lines of a page be broken within long lists (`q1,q2,…`), which have no blank, and leaves their
/// ends uneven: groff(7), `\:` and `.ad l`.
fn breakable(page: &str) -> String {
    const LONG: usize = 50;
    let word = |word: &str| match word.len() > LONG {
        true => word.replace(',', ",\\:"),
        false => word.into(),
    };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    let adjusted = |l: &str| match l.starts_with(".TH ") {
        true => format!("{l}\n.ad l"),
        false => line(l),
    };
    page.split('\n')
        .map(adjusted)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether it is a page of an earlier Tidemark, which is replaced, as no other file is.
fn is_page(file: &mut File) -> std::io::Result<bool> {
    let (begin, _) = user_files::ends_of(file)?;
    Ok(begin.lines().take(9).any(|l| l.starts_with(".TH tidemark")))
}

/// The whole command line. Those of other tools are no clap grammars for reading; here they are
/// described from the tables of their options.
fn whole() -> Result<clap::Command, Failure> {
    let mut whole = args::command();
    for (at, found) in frontend::all().enumerate() {
        let grammar = (found.grammar)()?.name(found.word).about(found.about);
        // The place in the list stays where it is.
        whole = whole.mut_subcommand(found.word, |_| grammar.display_order(1 + at));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_line_as_it_was_meant() {
        let words = [
            "tidemark",
            "--target=mysql://u@h/db?tls=off&ca=/x",
            "--mysql-user=",
            "--mysql-db=a b",
            "--mysql-password=geheim",
            "it's",
            "--tables=2",
        ]
        .map(String::from);
        assert_eq!(
            line(&words),
            "tidemark --target='mysql://u@h/db?tls=off&ca=/x' --mysql-user= --mysql-db='a b' \
             --mysql-password='***' 'it'\\''s' --tables=2"
        );
    }

    #[test]
    fn every_command_is_described_and_clap_agrees() {
        let whole = whole().unwrap();
        whole.clone().debug_assert();
        for name in frontend::all().map(|f| f.word) {
            let command = whole.find_subcommand(name).unwrap();
            let options = command.get_arguments().filter(|a| a.get_long().is_some());
            assert!(options.count() > 40, "{name}");
        }
    }
}
