//! Commands as they are typed on another day: with a private server like the one that was measured,
//! and with what else a study saw to.

mod steps;

pub(crate) use steps::{Labelled, of_steps};

use crate::ReportError;
use crate::html::html_of;
use crate::markdown::markdown_of;
use crate::text::text_of;
use crate::texts::{Lang, Texts, fill};
use crate::words::quoted;
use serde::Serialize;
use tidemark_core::record::RunRecord;

/// A run, and what its report needs beside the record.
#[derive(Debug, Clone, Copy)]
pub struct OneRun<'a> {
    /// What happened.
    pub record: &'a RunRecord,
    /// What its command needs, if anything.
    pub by_hand: Option<&'a ByHand>,
}

impl<'a> From<&'a RunRecord> for OneRun<'a> {
    fn from(record: &'a RunRecord) -> Self {
        Self {
            record,
            by_hand: None,
        }
    }
}

impl OneRun<'_> {
    /// Its page, as [`crate::html()`] makes it.
    ///
    /// # Errors
    /// As [`crate::html()`].
    pub fn html(self, lang: Lang) -> Result<String, ReportError> {
        html_of(self, lang)
    }

    /// Its summary, as [`crate::markdown()`] makes it.
    ///
    /// # Errors
    /// As [`crate::markdown()`].
    pub fn markdown(self, lang: Lang) -> Result<String, ReportError> {
        markdown_of(self, lang)
    }

    /// Its summary, as [`crate::text()`] makes it.
    ///
    /// # Errors
    /// As [`crate::text()`].
    pub fn text(self, lang: Lang) -> Result<String, ReportError> {
        text_of(self, lang)
    }
}

/// What the command of a study's step needs on another day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByHand {
    /// The private server that the study started: its port is gone.
    pub server: Option<PrivateServer>,
    /// The commands that load the data of a run on a private server.
    pub load: Option<Load>,
    /// The data of a step that stands among all steps of its study.
    pub data: Option<Data>,
    /// Settings of the server that the study changed for the step and put back after it.
    pub settings: Vec<(String, String)>,
    /// The variable of the password that the command took, and the user's own that held it, unless
    /// the study's file did.
    pub password: Option<(String, Option<String>)>,
}

/// A private server, and how one like it is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateServer {
    /// What the study asked for: `up:…`.
    pub asked: String,
    /// What the one started by hand is called.
    pub name: String,
    /// The command that starts it.
    pub start: Vec<String>,
    /// Whether it is the user's own, which may run already and is theirs to end.
    pub users: bool,
}

/// What a step has to do with data, by the number of the step that loads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// It loads them.
    Loads(usize),
    /// It needs them.
    Needs(usize),
}

/// The commands that load data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of the step that did: the same words may load fresh rows for another run.
    pub step: usize,
    /// Into an empty server.
    pub words: Vec<String>,
    /// In place of other data of the study.
    pub replacing: Vec<String>,
    /// Settings of the server that the study changed for the load and put back after it.
    pub settings: Vec<(String, String)>,
}

/// The same as lines for a shell, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Lines {
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    load_settings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    settings: Vec<String>,
    command: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
}

impl PrivateServer {
    /// The command that prints its URL.
    fn url(&self) -> String {
        format!("tidemark up {} --url", quoted(&self.name))
    }

    /// The line that starts it, where it does not run already.
    fn start(&self) -> String {
        let start = line(&self.start, None);
        match self.users {
            true => format!("{} 2>/dev/null || {start}", self.url()),
            false => start,
        }
    }

    /// The line that ends it, unless that is the user's to say.
    fn end(&self) -> Option<String> {
        (!self.users).then(|| format!("tidemark down {}", quoted(&self.name)))
    }

    /// What is said before it is started.
    fn says(&self, t: &Texts) -> String {
        let said = match self.users {
            true => t.by_hand_users,
            false => t.by_hand_start,
        };
        fill(said, &[("asked", &self.asked)])
    }
}

impl ByHand {
    /// The lines for programs.
    pub(crate) fn lines(&self, command: &[String]) -> Lines {
        let server = self.server.as_ref();
        Lines {
            start: server.map(PrivateServer::start),
            load: self.load.as_ref().map(|load| line(&load.words, Some(self))),
            load_settings: self
                .load
                .iter()
                .flat_map(|load| &load.settings)
                .map(said)
                .collect(),
            settings: self.settings.iter().map(said).collect(),
            command: line(command, Some(self)),
            end: server.and_then(PrivateServer::end),
        }
    }
}

fn said((name, value): &(String, String)) -> String {
    format!("{name} = {value}")
}

/// A command's words as a shell takes them.
fn typed(words: &[String], by_hand: Option<&ByHand>) -> Vec<String> {
    let server = by_hand.and_then(|b| b.server.as_ref());
    let word = |word: &String| match server {
        Some(server) if word.starts_with("--target=") => {
            format!("--target=\"$({})\"", server.url())
        }
        _ => quoted(word),
    };
    let variable = by_hand.and_then(|b| b.password.as_ref());
    let variable = variable.map(|(of_driver, users)| match users {
        Some(users) => format!("{of_driver}=\"${users}\""),
        None => format!("{of_driver}='***'"),
    });
    // What is in a server of the user's is not replaced by a command that was only copied.
    let keeps = server.is_some_and(|server| server.users);
    let words = words.iter().filter(|word| !(keeps && *word == "--replace"));
    variable.into_iter().chain(words.map(word)).collect()
}

/// A command as one line.
pub(crate) fn line(words: &[String], by_hand: Option<&ByHand>) -> String {
    typed(words, by_hand).join(" ")
}

/// Longest line of a command, if a word is no longer.
const COMMAND_WIDTH: usize = 88;

/// A command in lines that are not too long.
fn wrapped(words: &[String], by_hand: Option<&ByHand>) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in typed(words, by_hand) {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > COMMAND_WIDTH {
            text.push_str(" \\\n  ");
            column = 2;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(&word);
        column += length;
    }
    text
}

/// A comment of a shell: whatever a label holds, it ends with its line.
pub(crate) fn comment(text: &str) -> String {
    format!("# {}", text.replace(char::is_control, " "))
}

/// What is said of the settings that a command had, if it had any.
fn about_settings(settings: &[(String, String)], t: &Texts) -> Option<String> {
    let settings: Vec<String> = settings.iter().map(said).collect();
    let values = [("settings", &*settings.join(t.comma))];
    (!settings.is_empty()).then(|| comment(&fill(t.by_hand_settings, &values)))
}

/// Which load of the lines it is: a server of the user's may refuse one, which then must keep the
/// runs of its data from measuring others.
#[derive(Clone, Copy)]
struct Gate(usize);

impl Gate {
    /// The line of a load.
    fn load(self, command: &str, by_hand: Option<&ByHand>) -> String {
        let Gate(n) = self;
        match is_users(by_hand) {
            true => format!("loaded_{n}=no; {command} && loaded_{n}=yes"),
            false => command.into(),
        }
    }

    /// The line of a run that needs it.
    fn run(self, command: &str, by_hand: Option<&ByHand>) -> String {
        match is_users(by_hand) {
            true => format!("[ \"$loaded_{}\" = yes ] && {command}", self.0),
            false => command.into(),
        }
    }
}

fn is_users(by_hand: Option<&ByHand>) -> bool {
    let server = by_hand.and_then(|b| b.server.as_ref());
    server.is_some_and(|server| server.users)
}

/// The commands that make a run again.
pub(crate) fn of_run(run: OneRun<'_>, t: &Texts) -> String {
    let mut command = wrapped(&run.record.command, run.by_hand);
    let Some(by_hand) = run.by_hand else {
        return command;
    };
    let mut lines = Vec::new();
    if let Some(server) = &by_hand.server {
        lines.extend([comment(&server.says(t)), server.start()]);
    }
    if let Some(load) = &by_hand.load {
        let gate = Gate(1);
        lines.push(comment(t.by_hand_load));
        lines.extend(about_settings(&load.settings, t));
        lines.push(gate.load(&wrapped(&load.words, run.by_hand), run.by_hand));
        lines.push(comment(t.by_hand_run));
        command = gate.run(&command, run.by_hand);
    }
    lines.extend(about_settings(&by_hand.settings, t));
    lines.push(command);
    if let Some(end) = by_hand.server.as_ref().and_then(PrivateServer::end) {
        lines.extend([comment(t.by_hand_end), end]);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn words(line: &str) -> Vec<String> {
        line.split(' ').map(String::from).collect()
    }

    #[test]
    fn a_password_is_taken_from_the_users_variable() {
        let command = words("tidemark tpcc --target=mysql://u@h/d run");
        let with = |users: Option<&str>| ByHand {
            password: Some(("MYSQL_PWD".into(), users.map(String::from))),
            ..ByHand::default()
        };
        for (users, said) in [(Some("DB_PW"), "\"$DB_PW\""), (None, "'***'")] {
            let line = line(&command, Some(&with(users)));
            let said = format!("MYSQL_PWD={said} tidemark tpcc --target=mysql://u@h/d run");
            assert_eq!(line, said);
        }
    }
}
