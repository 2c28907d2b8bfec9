//! A document while it is read: which run is going on, what stands before it, what was not understood.

use crate::command::{CommandLine, canonical, command};
use crate::draft::{Draft, From};
use crate::labels::{
    assignment, client, is_of_all, is_of_output, mode, states_a_figure, tells_a_figure,
};
use crate::leftovers::Leftovers;
use crate::lines_of_tables::is_csv_heading;
use crate::text::TextError;
use crate::unit::Unit;
use std::collections::BTreeMap;
use tidemark_core::tools::Tool;

/// What a line of a document became.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// Nothing stands on it.
    Blank,
    /// Figures, options or a part of a run's output, of this tool.
    Output(&'static str),
    /// A line of this tool of which no figure is kept.
    NoFigure(&'static str),
    /// A command line of this tool.
    Command(&'static str),
    /// An option of a configuration.
    Option,
    /// A heading, or which client follows.
    Heading,
    /// A row of a table, or its heading.
    Table,
    /// A row of a table with cells that were not understood.
    TableInPart,
    /// Words outside any output.
    Remark,
    /// A line within an output that no format explains.
    NotUnderstood,
}

/// Everything that is known at a line.
#[derive(Debug, Default)]
pub(crate) struct Doc {
    pub done: Vec<Draft>,
    pub open: Option<Draft>,
    pub client: Option<String>,
    pub command: Option<CommandLine>,
    /// Whether a run took the command's options already.
    command_used: bool,
    /// The headings that the document is below: level, text, and whether it names a client.
    above: Vec<(usize, String, bool)>,
    /// The level and the text of the heading that the command stands below.
    command_place: (usize, String),
    /// Whether that heading's part ended before any output: what follows is not the command's.
    command_over: bool,
    /// A command line that goes on.
    unfinished: Option<(String, u64)>,
    /// `name=value` lines of a configuration.
    pub config: BTreeMap<String, (String, u64)>,
    /// Modes that the document sets on the server, with the line; none of one that it sets to two values,
    /// for which run whichever was.
    modes: BTreeMap<String, Option<(&'static str, u64)>>,
    /// Commands without output: line and text.
    pub missing: Vec<(u64, String)>,
    pub leftovers: Leftovers,
    pub fenced: bool,
    /// Whether the document has blocks of code: what stands outside of them is the author's.
    had_fence: bool,
    /// Whether anything stands in the block of code that is open.
    fence_has_text: bool,
    /// Whether an empty block stands below the command, which has no output yet.
    promised: bool,
    /// Lines of words since the last one of the open run.
    remarks: Vec<(u64, String)>,
    /// A line after `#` between lines of an output: a remark where the output goes on, a heading
    /// where anything else follows.
    maybe_heading: Option<String>,
    /// The line of words right above, which may be the caption of a table.
    pub caption: String,
    /// Outputs whose summary is missing or cut: first and last line, tool.
    pub incomplete: Vec<(u64, u64, &'static str)>,
    /// The last two lines that are not empty; dots, which stand for lines, count twice.
    last_texts: (u64, u64),
    /// Names of the columns of the table that a benchmark written in Go prints right here.
    pub go_names: Vec<String>,
    /// Whether no figure is kept of the line that a format took last.
    pub no_figure: bool,
    /// Unit of latencies of which nothing states any.
    pub unit: Option<Unit>,
    /// About how many bytes [`Doc::done`] takes.
    held: usize,
}

/// More lines of configuration than these are none.
const MOST_CONFIG: usize = 500;
/// No server has more modes that exclude each other; each run has all of them.
const MOST_MODES: usize = 8;
/// More runs than these are in no document.
const MOST_RUNS: usize = 20_000;
/// More bytes of figures are refused: records take several times as much.
const MOST_HELD: usize = 128 << 20;
/// So many lines without a figure end the extent of an output.
const APART: u64 = 12;

/// Whether a line is nothing but dots: they stand for lines that the author left out.
fn are_dots(plain: &str) -> bool {
    plain.chars().all(|c| matches!(c, '.' | '…' | '。'))
}

impl Doc {
    /// The run of a tool that is going on, or a new one.
    pub fn run(&mut self, tool: &'static str, line: u64) -> &mut Draft {
        let goes_on = self.open.as_ref().is_some_and(|d| d.tool == tool);
        if !goes_on {
            self.close();
            self.settle_heading();
            self.open = Some(self.begin_draft(tool, line));
        }
        self.maybe_heading = None;
        self.touch(line);
        self.open.get_or_insert_default()
    }

    /// Ends what is going on and begins another run.
    pub fn begin(&mut self, tool: &'static str, line: u64) -> &mut Draft {
        let is_fresh = self
            .open
            .as_ref()
            .is_some_and(|d| d.tool == tool && !d.has_figures());
        if !is_fresh {
            self.close();
        }
        self.run(tool, line)
    }

    /// The open run of a tool, if it is going on.
    pub fn of(&mut self, tool: &str) -> Option<&mut Draft> {
        self.open.as_mut().filter(|d| d.tool == tool)
    }

    /// Says that a line belongs to the open run.
    pub fn touch(&mut self, line: u64) {
        self.fence_has_text = true;
        self.maybe_heading = None;
        self.caption.clear();
        for (at, text) in self.remarks.drain(..) {
            self.leftovers.add(at, &text);
        }
        if let Some(open) = &mut self.open {
            open.last_line = open.last_line.max(line);
            open.first_line = open.first_line.min(line);
        }
    }

    /// The heading that the document is below; empty before the first.
    pub fn heading(&self) -> &str {
        self.above.last().map_or("", |(_, text, _)| text)
    }

    /// The headings that the document is below, without those of clients.
    pub fn test(&self) -> String {
        let tests = self.above.iter().filter(|(.., is_client)| !is_client);
        let tests: Vec<&str> = tests.map(|(_, text, _)| text.as_str()).collect();
        tests.join(" / ")
    }

    /// The nearest heading that names no client.
    pub fn test_heading(&self) -> &str {
        let mut above = self.above.iter().rev();
        above
            .find(|(.., is_client)| !is_client)
            .map_or("", |(_, text, _)| text)
    }

    fn begin_draft(&mut self, tool: &'static str, line: u64) -> Draft {
        let mut draft = Draft {
            tool,
            first_line: line,
            last_line: line,
            heading: self.heading().into(),
            client: self.client.clone(),
            test: self.test(),
            ..Draft::default()
        };
        let is_same =
            |c: &&CommandLine| c.tool == tool || Tool::named(tool).started_as.contains(&c.tool);
        // A plain log says by its headings and its clients what a command is for; without any, it is for
        // the output below it. mysqlslap prints one for each number of clients.
        let is_plain = self.above.is_empty() && !self.had_fence && self.client.is_none();
        let is_another = is_plain && self.command_used && tool != "mysqlslap";
        if self.command_over && self.command.as_ref().is_some_and(|c| is_same(&c)) {
            // Its output may stand in a part of its own: it takes nothing, and nothing is missed.
            self.command = None;
            return draft;
        }
        let command = self.command.as_ref().filter(is_same);
        let Some(command) = command.filter(|_| !is_another && !self.command_over) else {
            return draft;
        };
        draft.workload.clone_from(&command.workload);
        draft.command = Some(command.text.clone());
        let has_config = command.options.iter().any(|(k, _)| k == "config-file");
        if has_config {
            for (name, (value, line)) in &self.config {
                draft.option(name, value, *line, From::Config);
            }
        }
        for (name, value) in &command.options {
            draft.option(name, value, command.line, From::Command);
        }
        let asked = draft.option_number("threads").filter(|_| self.command_used);
        draft.inherited = asked.map(|asked| (asked, command.workload.clone()));
        self.command_used = true;
        draft
    }

    /// Ends the run that is going on.
    pub fn close(&mut self) {
        let Some(mut draft) = self.open.take() else {
            self.remarks.clear();
            return;
        };
        // Every line of which it was said that it is not understood.
        for (at, text) in self.remarks.drain(..) {
            self.leftovers.add(at, &text);
        }
        draft.leave_the_command();
        draft.end();
        draft.pack();
        let is_load = draft
            .options
            .get("command")
            .is_some_and(|c| matches!(c.value.as_str(), "prepare" | "cleanup" | "check"));
        if draft.has_no_end() {
            self.incomplete
                .push((draft.first_line, draft.last_line, draft.tool));
            draft.notes.push(format!(
                "the output on lines {} to {} is incomplete: its summary is missing or cut",
                draft.first_line, draft.last_line
            ));
        }
        if draft.has_figures() && !(is_load && draft.figures.is_empty()) {
            self.held = self.held.saturating_add(draft.size());
            self.done.push(draft);
        }
    }

    /// Keeps in mind where the text ends.
    pub fn note_text(&mut self, text: &str, line: u64) {
        if text.bytes().all(|b| b.is_ascii_whitespace()) {
            return;
        }
        let (_, before) = self.last_texts;
        let is_left_out = are_dots(text.trim());
        self.last_texts = (if is_left_out { line } else { before }, line);
    }

    /// Tells the open run whether the document ends with it. The last line may be cut so that nothing
    /// knows it.
    pub fn end_text(&mut self, is_open: bool) {
        let (before, last) = self.last_texts;
        if let Some(open) = &mut self.open {
            let ends = open.last_line == last || is_open && open.last_line == before;
            open.ends_document = ends && !self.had_fence;
        }
    }

    /// Tells the open run that the document ends within its JSON. A log of measurements has no summary.
    pub fn leave_json_open(&mut self) {
        if let Some(open) = &mut self.open {
            open.has_open_json = open.samples.is_none();
        }
    }

    /// The last line of a document has no end: where its output is cut, its figures may be, too.
    pub fn leave_cut_line(&mut self, line: u64) {
        let open = self.open.as_mut();
        let Some(open) = open.filter(|open| open.is_cut() || open.ends_within(line)) else {
            return;
        };
        let before = open.figures.len() + open.intervals.len();
        open.figures.retain(|f| f.line != line);
        open.intervals.retain(|i| i.line != line);
        if open.figures.len() + open.intervals.len() < before {
            self.leftovers.add(line, "the line is cut off");
        }
    }

    /// # Errors
    /// [`TextError::TooLarge`] where its runs are more than can be kept.
    pub fn has_room(&self, line: u64) -> Result<(), TextError> {
        match self.done.len() <= MOST_RUNS && self.held <= MOST_HELD {
            true => Ok(()),
            false => Err(TextError::TooLarge {
                line,
                runs: MOST_RUNS,
                mebibytes: MOST_HELD >> 20,
            }),
        }
    }

    /// Keeps a mode of the server in mind.
    fn note_mode(&mut self, plain: &str, line: u64) {
        let Some((name, word)) = mode(plain) else {
            return;
        };
        let name = name.to_ascii_lowercase();
        let has_room = self.modes.len() < MOST_MODES;
        match self.modes.get_mut(&name) {
            Some(Some((known, _))) if *known == word => {}
            Some(known) => *known = None,
            None if has_room => {
                self.modes.insert(name, Some((word, line)));
            }
            None => {}
        }
    }

    /// Gives every run the modes that hold for all of the document.
    pub fn give_modes(&mut self) {
        for (name, stated) in &self.modes {
            let Some((word, line)) = stated else { continue };
            for draft in &mut self.done {
                draft.option(name, word, *line, From::Config);
            }
        }
    }

    /// What every document has beside outputs: commands, configurations, headings, fences.
    pub fn context(&mut self, text: &str, line: u64) -> Option<Became> {
        let plain = text.trim();
        if let Some((mut begun, at)) = self.unfinished.take() {
            begun.push(' ');
            begun.push_str(plain.trim_end_matches('\\'));
            if plain.ends_with('\\') && begun.len() < 20_000 {
                self.unfinished = Some((begun, at));
                return Some(Became::Command("shell"));
            }
            return Some(
                self.commanded(&begun, at)
                    .map_or(Became::Remark, Became::Command),
            );
        }
        self.note_mode(plain, line);
        // An empty line of a quotation is empty.
        if plain.bytes().all(|b| matches!(b, b'>' | b' ' | b'\t')) {
            return Some(Became::Blank);
        }
        if plain.starts_with("```") || plain.starts_with("~~~") {
            self.settle_heading();
            if self.fenced && !self.fence_has_text && !self.command_used {
                self.promised = self.command.is_some();
            }
            self.fenced = !self.fenced;
            self.had_fence = true;
            self.fence_has_text = false;
            return Some(Became::Blank);
        }
        self.fence_has_text = true;
        if are_dots(plain) {
            return Some(Became::Remark);
        }
        if plain.ends_with('\\') && plain.len() > 1 {
            let whole = plain.trim_end_matches('\\');
            if command(whole, line).is_some() || command(&format!("{whole} --x"), line).is_some() {
                self.unfinished = Some((whole.into(), line));
                return Some(Became::Command("shell"));
            }
        }
        if let Some(tool) = self.commanded(plain, line) {
            return Some(Became::Command(tool));
        }
        if !self.fenced
            && (plain.starts_with("# ") || plain.starts_with("##"))
            && !(self.above.is_empty() && is_csv_heading(plain))
        {
            self.settle_heading();
            let goes_on = self
                .open
                .as_ref()
                .is_some_and(|d| !d.intervals.is_empty() && !d.has_summary);
            if goes_on && !self.had_fence && client(plain).is_none() {
                self.maybe_heading = Some(plain.into());
                return Some(Became::Remark);
            }
            self.take_heading(plain);
            return Some(Became::Heading);
        }
        if let Some(client) = client(plain) {
            let is_other = |d: &Draft| d.has_summary || d.client.as_ref() != Some(&client);
            if self.open.as_ref().is_some_and(is_other) {
                self.close();
            }
            self.client = Some(client);
            return Some(Became::Heading);
        }
        // A line above figures of all clients ends the part of the last one.
        if self.client.is_some() && !self.fenced && plain.chars().count() <= 30 && is_of_all(plain)
        {
            self.close();
            self.client = None;
            self.above.retain(|(.., is_client)| !is_client);
            return Some(Became::Heading);
        }
        if let Some((name, value)) = assignment(plain) {
            if self.config.len() < MOST_CONFIG {
                self.config.insert(canonical(name), (value.into(), line));
            }
            return Some(Became::Option);
        }
        None
    }

    /// What may have been a remark within an output is a heading: the output ended above it.
    pub fn settle_heading(&mut self) {
        if let Some(text) = self.maybe_heading.take() {
            self.take_heading(&text);
        }
    }

    fn take_heading(&mut self, plain: &str) {
        self.caption.clear();
        let heading: String = plain
            .trim_start_matches('#')
            .trim()
            .chars()
            .take(200)
            .collect();
        let level = plain.bytes().take_while(|b| *b == b'#').count();
        let is_first = self.above.is_empty();
        self.above.retain(|(above, ..)| *above < level);
        let named = client(&heading);
        // What stands below a client's heading is the client's, unless it is of all of them.
        let is_total = named.is_none() && is_of_all(&heading);
        if is_total {
            self.above.retain(|(.., is_client)| !is_client);
        }
        let is_client = named.is_some();
        self.above.push((level, heading.clone(), is_client));
        let is_below = self.above.iter().any(|(.., is_client)| *is_client);
        let client = named.or_else(|| self.client.clone().filter(|_| is_below));
        // A command is in force below its own heading, and for the other clients of its test. What
        // stands before the first heading with its output has no part in what follows.
        let (own_level, own) = &self.command_place;
        let is_same_of_another = client.is_some() && *own == heading;
        let is_over = level <= *own_level && !is_client && !is_same_of_another
            || is_first && self.command_used;
        // `## Command` and `## Result` are two parts of one.
        let announces = !self.command_used
            && level == *own_level
            && is_of_output(&heading)
            && self.command.as_ref().is_some_and(CommandLine::runs);
        if is_over && !announces {
            match self.command_used {
                true => self.command = None,
                false => self.command_over = true,
            }
        }
        let ends = self.open.as_ref().is_some_and(|d| {
            d.has_summary || d.client != client || self.had_fence && d.has_figures()
        });
        if ends {
            self.close();
        }
        self.client = client;
    }

    fn commanded(&mut self, text: &str, line: u64) -> Option<&'static str> {
        let command = command(text, line)?;
        self.close();
        self.settle_heading();
        self.miss();
        let tool = command.tool;
        self.command = Some(command);
        let below = self.above.last();
        self.command_place = below.map_or((0, String::new()), |(level, text, _)| {
            (*level, text.clone())
        });
        self.command_used = false;
        self.command_over = false;
        self.promised = false;
        Some(tool)
    }

    /// A command that ran a benchmark and has no output below it.
    pub fn miss(&mut self) {
        let Some(command) = self.command.take().filter(|_| !self.command_used) else {
            return;
        };
        let promised = std::mem::take(&mut self.promised);
        if (command.runs() || promised) && self.missing.len() < 1000 {
            self.missing.push((command.line, command.text));
        }
    }

    /// Whether a line is the document's own: a label above a block of code, an item of a list.
    fn is_label(&self, text: &str) -> bool {
        let plain = text.trim();
        let item = plain.starts_with("* ") || plain.starts_with("- ") || plain.starts_with("![");
        !self.fenced && self.had_fence && (item || plain.ends_with([':', '：']))
    }

    /// Takes back what was said of a line that turned out to be a table's heading.
    pub fn take_back(&mut self, line: u64, caption: String) {
        self.remarks.retain(|(at, _)| *at != line);
        self.caption = caption;
    }

    /// A line that nothing explains.
    pub fn left(&mut self, text: &str, line: u64) -> Became {
        let near = self
            .open
            .as_ref()
            .is_some_and(|d| d.has_figures() && line.saturating_sub(d.last_line) <= APART);
        if !near && (states_a_figure(text) || tells_a_figure(text)) {
            self.leftovers.add(line, text);
            // A sentence may be the caption of a table all the same.
            if !states_a_figure(text) && !self.fenced {
                self.caption = text.trim().into();
            }
            return Became::NotUnderstood;
        }
        if self.is_label(text) {
            self.caption = text.trim().into();
            return Became::Remark;
        }
        if !self.fenced && text.chars().count() <= 120 {
            self.caption = text.trim().into();
        }
        // What stands outside of blocks of code is the author's.
        if near && (self.fenced || !self.had_fence) && (self.remarks.len() as u64) < APART {
            self.remarks.push((line, text.chars().take(200).collect()));
            return Became::NotUnderstood;
        }
        Became::Remark
    }
}
