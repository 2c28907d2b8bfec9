//! Commands that begin with a backslash, and what they do to the statements between them.

use super::{CommandKind, MOST_VALUES, Mode, PgbenchCommand, Sleep, Sql, Store};
use crate::pgbench::expression::{Names, parse};
use std::time::Duration;
use tidemark_core::did_you_mean;

const COMMANDS: [&str; 10] = [
    "set",
    "if",
    "elif",
    "else",
    "endif",
    "gset",
    "aset",
    "sleep",
    "startpipeline",
    "endpipeline",
];

/// Commands of pgbench's that are refused, and what to do instead.
const REFUSED: [(&str, &str); 3] = [
    (
        "setrandom",
        "PostgreSQL 9.6 removed it; for example \\set aid random(1, 100000)",
    ),
    (
        "setshell",
        "programs are not started during a run; set the variable with -D",
    ),
    ("shell", "programs are not started during a run"),
];

/// An `\if` that is open.
struct IfBlock {
    /// The command whose condition decides, until its other branch begins.
    open: Option<usize>,
    /// Commands that wait to be told of the `\endif`.
    waiting: Vec<usize>,
}

/// Makes commands of a script's parts.
pub(super) struct ScriptReader<'a> {
    mode: Mode,
    names: &'a mut Names,
    numbers: &'a mut usize,
    commands: Vec<PgbenchCommand>,
    blocks: Vec<IfBlock>,
    in_pipeline: bool,
    /// Whether the last part was a statement, which `\gset` may follow.
    after_sql: bool,
}

impl<'a> ScriptReader<'a> {
    pub fn new(mode: Mode, names: &'a mut Names, numbers: &'a mut usize) -> Self {
        Self {
            mode,
            names,
            numbers,
            commands: Vec::new(),
            blocks: Vec::new(),
            in_pipeline: false,
            after_sql: false,
        }
    }

    fn push(&mut self, line: &str, what: CommandKind) {
        let line = line.lines().next().unwrap_or_default().into();
        self.commands.push(PgbenchCommand { line, what });
    }

    /// A statement.
    pub fn sql(&mut self, text: &str) -> Result<(), String> {
        let mut sql = Sql::new(text, self.names, *self.numbers);
        if sql.values.len() > MOST_VALUES && self.mode != Mode::Simple {
            return Err(format!(
                "the statement has {} variables; at most {MOST_VALUES}",
                sql.values.len()
            ));
        }
        sql.is_piped = self.in_pipeline;
        *self.numbers += 1;
        self.push(text, CommandKind::Sql(sql));
        self.after_sql = true;
        Ok(())
    }

    /// A command.
    pub fn meta(&mut self, command: &str) -> Result<(), String> {
        let after_sql = std::mem::take(&mut self.after_sql);
        let end = command.find(char::is_whitespace).unwrap_or(command.len());
        let (word, rest) = command.split_at(end);
        let shown = format!("\\{command}");
        let alone = || match rest.trim() {
            "" => Ok(()),
            more => Err(format!("\\{word} takes nothing, not {more}")),
        };
        match word {
            "set" => self.set(&shown, rest)?,
            "if" => {
                let test = self.condition(word, rest)?;
                self.blocks.push(IfBlock {
                    open: Some(self.commands.len()),
                    waiting: Vec::new(),
                });
                self.push(&shown, branch(test, None));
            }
            "elif" => {
                let test = self.condition(word, rest)?;
                let here = self.other_branch(word)?;
                if let Some(block) = self.blocks.last_mut() {
                    block.open = Some(here);
                }
                self.push(&shown, branch(test, Some(0)));
            }
            "else" => {
                alone()?;
                self.other_branch(word)?;
                self.push(&shown, CommandKind::Else { end: 0 });
            }
            "endif" => {
                alone()?;
                let block = self.blocks.pop();
                let block = block.ok_or("\\endif without \\if")?;
                self.close(&block);
                self.push(&shown, CommandKind::Endif);
            }
            "gset" | "aset" => self.store(word, rest.trim(), after_sql)?,
            "sleep" => self.sleep(&shown, rest)?,
            "startpipeline" => {
                alone()?;
                if self.mode == Mode::Simple {
                    return Err("\\startpipeline needs -M extended or -M prepared".into());
                }
                if std::mem::replace(&mut self.in_pipeline, true) {
                    return Err("\\startpipeline in a pipeline".into());
                }
                self.push(&shown, CommandKind::StartPipeline);
            }
            "endpipeline" => {
                alone()?;
                if !std::mem::take(&mut self.in_pipeline) {
                    return Err("\\endpipeline without \\startpipeline".into());
                }
                self.push(&shown, CommandKind::EndPipeline);
            }
            _ => return Err(unknown(word)),
        }
        Ok(())
    }

    /// The commands, when the script has ended.
    pub fn finish(self) -> Result<Vec<PgbenchCommand>, String> {
        if !self.blocks.is_empty() {
            return Err("\\if without \\endif".into());
        }
        if self.in_pipeline {
            return Err("\\startpipeline without \\endpipeline".into());
        }
        Ok(self.commands)
    }

    fn set(&mut self, shown: &str, rest: &str) -> Result<(), String> {
        let rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, expression) = rest.split_at(end);
        if name.is_empty() || expression.trim().is_empty() {
            return Err(
                "\\set needs a variable and an expression; for example \\set aid \
                        random(1, 100000)"
                    .into(),
            );
        }
        if !name.chars().all(super::super::expression_name) {
            return Err(format!(
                "\\set {name}: a variable's name has letters, digits and underscores"
            ));
        }
        let value = self.expression("set", expression)?;
        let to = self.names.slot(name).slot;
        self.push(shown, CommandKind::Set { to, value });
        Ok(())
    }

    fn expression(
        &mut self,
        word: &str,
        text: &str,
    ) -> Result<crate::pgbench::expression::Expr, String> {
        let text = text.trim();
        parse(text, self.names).map_err(|e| format!("\\{word}: {e} of {text}"))
    }

    fn condition(
        &mut self,
        word: &str,
        text: &str,
    ) -> Result<crate::pgbench::expression::Expr, String> {
        if text.trim().is_empty() {
            return Err(format!("\\{word} needs an expression"));
        }
        self.expression(word, text)
    }

    /// Begins another branch of the innermost `\if`, and gives its place.
    fn other_branch(&mut self, word: &str) -> Result<usize, String> {
        let here = self.commands.len();
        let block = self.blocks.last_mut();
        let block = block.ok_or_else(|| format!("\\{word} without \\if"))?;
        let open = block.open.take();
        let open = open.ok_or_else(|| format!("\\{word} after \\else"))?;
        block.waiting.push(here);
        if let Some(PgbenchCommand {
            what: CommandKind::If { otherwise, .. },
            ..
        }) = self.commands.get_mut(open)
        {
            *otherwise = here;
        }
        Ok(here)
    }

    /// Tells the commands of a block where it ends.
    fn close(&mut self, block: &IfBlock) {
        let here = self.commands.len();
        for at in block.waiting.iter().chain(&block.open) {
            match self.commands.get_mut(*at).map(|c| &mut c.what) {
                Some(CommandKind::If {
                    otherwise,
                    after_branch,
                    ..
                }) => {
                    if block.open == Some(*at) {
                        *otherwise = here;
                    }
                    if let Some(end) = after_branch {
                        *end = here;
                    }
                }
                Some(CommandKind::Else { end }) => *end = here,
                _ => {}
            }
        }
    }

    fn store(&mut self, word: &str, prefix: &str, after_sql: bool) -> Result<(), String> {
        let is_name = prefix.chars().all(super::super::expression_name);
        if !is_name {
            return Err(format!("\\{word} {prefix}: the prefix is one name"));
        }
        if self.in_pipeline {
            return Err(format!("\\{word} is not allowed in a pipeline"));
        }
        let last = self.commands.last_mut().filter(|_| after_sql);
        let Some(PgbenchCommand {
            what: CommandKind::Sql(sql),
            ..
        }) = last
        else {
            return Err(format!("\\{word} must follow an SQL statement"));
        };
        sql.store = match word {
            "gset" => Store::One(prefix.into()),
            _ => Store::Last(prefix.into()),
        };
        Ok(())
    }

    fn sleep(&mut self, shown: &str, rest: &str) -> Result<(), String> {
        let example = "for example \\sleep 10 ms";
        let mut words = rest.split_whitespace();
        let Some(count) = words.next() else {
            return Err(format!("\\sleep needs a time; {example}"));
        };
        let (count, unit) = match count.strip_prefix(':') {
            Some(name) => (Err(self.names.slot(name).slot), words.next()),
            None => {
                let end = count.find(|c: char| !c.is_ascii_digit());
                let (digits, joined) = count.split_at(end.unwrap_or(count.len()));
                let digits = digits.parse::<u32>();
                let count = digits.map_err(|_| format!("\\sleep {count}: no number; {example}"))?;
                let unit = Some(joined).filter(|u| !u.is_empty());
                (Ok(count), unit.or_else(|| words.next()))
            }
        };
        let unit = match unit.map(str::to_ascii_lowercase).as_deref() {
            None | Some("s") => Duration::from_secs(1),
            Some("ms") => Duration::from_millis(1),
            Some("us") => Duration::from_micros(1),
            Some(other) => {
                return Err(format!(
                    "\\sleep: unknown unit {other}; known: us, ms, s; {example}"
                ));
            }
        };
        if let Some(more) = words.next() {
            return Err(format!("\\sleep takes a time and a unit, not {more}"));
        }
        self.push(shown, CommandKind::Sleep(Sleep { count, unit }));
        Ok(())
    }
}

fn branch(test: crate::pgbench::expression::Expr, after_branch: Option<usize>) -> CommandKind {
    CommandKind::If {
        test,
        otherwise: 0,
        after_branch,
    }
}

fn unknown(word: &str) -> String {
    if let Some((_, why)) = REFUSED.iter().find(|(name, _)| *name == word) {
        return format!("\\{word} is not supported: {why}");
    }
    let hint = did_you_mean(word, COMMANDS);
    format!(
        "unknown command \\{word}; known: \\{}{hint}",
        COMMANDS.join(", \\")
    )
}
