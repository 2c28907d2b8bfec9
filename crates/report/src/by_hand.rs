//! Commands as they are typed on another day: with a private server like the one that was measured,
//! and with what else a study saw to.

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

/// The commands that load data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Load {
    /// Into an empty server.
    pub words: Vec<String>,
    /// In place of other data of the study.
    pub replacing: Vec<String>,
}

/// The same as lines for a shell, for programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Lines {
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<String>,
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
    variable.into_iter().chain(words.iter().map(word)).collect()
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

/// What is said of the settings that a step had, if it had any.
pub(crate) fn about_settings(by_hand: &ByHand, t: &Texts) -> Option<String> {
    let settings: Vec<String> = by_hand.settings.iter().map(said).collect();
    let values = [("settings", &*settings.join(t.comma))];
    (!settings.is_empty()).then(|| comment(&fill(t.by_hand_settings, &values)))
}

/// The commands that make a run again.
pub(crate) fn of_run(run: OneRun<'_>, t: &Texts) -> String {
    let command = wrapped(&run.record.command, run.by_hand);
    let Some(by_hand) = run.by_hand else {
        return command;
    };
    let mut lines = Vec::new();
    if let Some(server) = &by_hand.server {
        lines.extend([comment(&server.says(t)), server.start()]);
    }
    if let Some(load) = &by_hand.load {
        let load = wrapped(&load.words, run.by_hand);
        lines.extend([comment(t.by_hand_load), load, comment(t.by_hand_run)]);
    }
    lines.extend(about_settings(by_hand, t));
    lines.push(command);
    if let Some(end) = by_hand.server.as_ref().and_then(PrivateServer::end) {
        lines.extend([comment(t.by_hand_end), end]);
    }
    lines.join("\n")
}

/// A command of a study, or of several runs.
pub(crate) struct Labelled<'a> {
    pub label: String,
    pub words: &'a [String],
    pub by_hand: Option<&'a ByHand>,
}

impl<'a> Labelled<'a> {
    pub fn of(label: String, words: &'a [String], by_hand: Option<&'a ByHand>) -> Self {
        Self {
            label,
            words,
            by_hand,
        }
    }
}

/// The commands of several steps, in their order, with the private servers that they take.
pub(crate) fn of_steps(steps: &[Labelled<'_>], t: &Texts) -> String {
    let mut servers: Vec<&PrivateServer> = Vec::new();
    for server in steps.iter().filter_map(|s| s.by_hand?.server.as_ref()) {
        if !servers.contains(&server) {
            servers.push(server);
        }
    }
    let starts = servers.iter();
    let mut lines: Vec<String> = starts
        .flat_map(|s| [comment(&s.says(t)), s.start()])
        .collect();
    // What each server's tables hold, where runs come without the steps that loaded for them.
    let mut held: Vec<(&PrivateServer, &Load)> = Vec::new();
    for step in steps {
        lines.push(comment(&step.label));
        let by_hand = step.by_hand;
        if let Some((server, load)) =
            by_hand.and_then(|b| Some((b.server.as_ref()?, b.load.as_ref()?)))
        {
            match held.iter_mut().find(|(of, _)| *of == server) {
                None => {
                    lines.push(line(&load.words, by_hand));
                    held.push((server, load));
                }
                Some((_, before)) if *before != load => {
                    lines.push(line(&load.replacing, by_hand));
                    *before = load;
                }
                Some(_) => {}
            }
        }
        lines.extend(by_hand.and_then(|b| about_settings(b, t)));
        lines.push(line(step.words, by_hand));
    }
    let ends: Vec<String> = servers.iter().filter_map(|s| s.end()).collect();
    if !ends.is_empty() {
        lines.push(comment(t.by_hand_end));
        lines.extend(ends);
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texts::Lang;

    fn words(line: &str) -> Vec<String> {
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

    #[test]
    fn other_data_are_loaded_in_place_of_those_that_are_there() {
        let server = PrivateServer {
            asked: "up:mariadb".into(),
            name: "again-1".into(),
            start: words("tidemark up mariadb --name again-1"),
            users: false,
        };
        let with = |rows: &str| ByHand {
            server: Some(server.clone()),
            load: Some(Load {
                words: words(&format!("load {rows}")),
                replacing: words(&format!("load {rows} --replace")),
            }),
            ..ByHand::default()
        };
        let (few, many) = (with("10"), with("20"));
        let run = words("run --target=mysql://gone");
        let label = "a\nrm -rf x";
        let step = |by_hand| Labelled::of(label.into(), &run, Some(by_hand));
        let text = of_steps(&[step(&few), step(&few), step(&many)], Lang::En.texts());
        let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
        let again = "run --target=\"$(tidemark up again-1 --url)\"";
        assert_eq!(
            lines,
            [
                "tidemark up mariadb --name again-1",
                "load 10",
                again,
                again,
                "load 20 --replace",
                again,
                "tidemark down again-1"
            ]
        );
    }
}
