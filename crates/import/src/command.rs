//! Command lines that stand before outputs: which tool, which options. Their passwords end here.

use tidemark_core::is_password_name;
use tidemark_core::tools::Tool;

/// A command line of a known tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CommandLine {
    pub tool: &'static str,
    pub text: String,
    pub line: u64,
    pub workload: String,
    pub options: Vec<(String, String)>,
}

impl CommandLine {
    /// Whether it runs a benchmark, so that an output is to be expected.
    pub fn runs(&self) -> bool {
        let is_run = |(name, value): &(String, String)| name == "command" && value == "run";
        let is_load = |(name, _): &(String, String)| name.starts_with('i');
        self.options.iter().any(is_run)
            || self.tool == "pgbench" && !self.options.iter().any(is_load)
    }
}

/// Words of which none is a workload: verbs, drivers.
const VERBS: [&str; 21] = [
    "run",
    "load",
    "prepare",
    "cleanup",
    "check",
    "help",
    "mysql",
    "tikv",
    "jdbc",
    "basic",
    "pg",
    "postgres",
    "bench",
    "java",
    "shell",
    "mongodb",
    "redis",
    "cassandra-cql",
    "tidb",
    "warmup",
    "transactions",
];

/// Names of one thing in several tools.
const SAME: [(&str, &str); 10] = [
    ("num-threads", "threads"),
    ("max-time", "time"),
    ("max-requests", "events"),
    ("oltp-table-size", "table-size"),
    ("oltp-tables-count", "tables"),
    ("threadcount", "threads"),
    ("client", "threads"),
    ("concurrency", "threads"),
    ("jobs", "jobs"),
    ("test", "workload-name"),
];

/// The one name of an option.
pub(crate) fn canonical(name: &str) -> String {
    let name = name.trim_start_matches('-').replace('_', "-");
    let same = SAME.iter().find(|(other, _)| *other == name);
    same.map_or(name.clone(), |(_, one)| (*one).into())
}

/// Prompts and bullets, when they stand by themselves before a command.
const PROMPTS: [&str; 6] = ["$", ">", "#", "*", "-", "%"];

fn without_prompt(text: &str) -> &str {
    let mut text = text.trim();
    while let Some((first, rest)) = text.split_once(char::is_whitespace)
        && PROMPTS.contains(&first)
    {
        text = rest.trim_start();
    }
    text
}

/// The command line in a line of text, if there is one: prompts, bullets and quotes may stand before.
pub(crate) fn command(text: &str, line: u64) -> Option<CommandLine> {
    let words = words(text);
    let at = words.iter().take(12).position(|w| program(w).is_some())?;
    let tool = program(words.get(at)?)?;
    // `tiup bench tpcc` is go-tpc; prose that names a tool has no options after it.
    let rest = words.get(at + 1..)?;
    let is_verb = |w: &String| VERBS.contains(&w.as_str());
    let is_flag = |w: &String| w.starts_with('-') && w.len() > 1;
    // `sysbench oltp_insert run`, with all options in a file.
    let is_short = |first: &str, last: &str| {
        let begins = ["oltp_", "bulk_", "select_", "tpcc", "tpch"];
        let of_machine = ["cpu", "memory", "fileio", "threads", "mutex"];
        let is_test = begins.iter().any(|b| first.starts_with(b))
            || first.ends_with(".lua")
            || of_machine.contains(&first);
        is_test && matches!(last, "run" | "prepare" | "cleanup")
    };
    let looks = rest.iter().any(is_flag)
        || rest.first().is_some_and(is_verb)
        || matches!(rest, [first, last] if is_short(first, last));
    let before = words.get(..at)?;
    let is_class_path = |at: usize| {
        let option = at.checked_sub(1).and_then(|at| before.get(at));
        option.is_some_and(|w| matches!(w.as_str(), "-cp" | "-classpath" | "--class-path"))
    };
    let prose = before.iter().enumerate().any(|(at, w)| {
        !(is_class_path(at)
            || w.contains('=')
            || w.starts_with(['-', '/', '.', '$', '>', '#', '*', '`'])
            || w.ends_with(['$', '#', '>', ':', '：', '%'])
            || w.len() <= 10 && PREFIXES.contains(&w.as_str())
            || w.contains('@'))
    });
    if !looks || prose {
        return None;
    }
    let (mut rest, mut hidden) = without_passwords(tool, rest);
    let placed = placed(tool, &rest);
    let password = rest.get_mut(PLACE_OF_PASSWORD);
    if let Some(password) = password.filter(|word| placed > 0 && !word.is_empty()) {
        *password = HIDDEN.to_string();
        hidden = true;
    }
    let text = match hidden {
        // Its quotes are gone, too.
        true => [words.get(..=at)?, &rest].concat().join(" "),
        false => without_prompt(text).to_string(),
    };
    let mut command = CommandLine {
        tool: tool.name,
        text: text.chars().take(4000).collect(),
        line,
        ..CommandLine::default()
    };
    let by_place = PLACES.iter().zip(&rest).take(placed);
    let by_place = by_place.filter(|(name, _)| **name != "password");
    let by_place = by_place.map(|(name, value)| ((*name).to_string(), value.clone()));
    command.options.extend(by_place);
    let mut rest = rest.iter().skip(placed).peekable();
    let mut plain = Vec::new();
    while let Some(word) = rest.next() {
        if is_password(tool, word) {
            rest.next_if(|w| *w == HIDDEN);
            continue;
        }
        if ENDS_OF_COMMANDS.contains(&word.as_str()) {
            break;
        }
        if let Some(option) = tool.flag(word) {
            let Some(value) = rest.next() else { break };
            match (option, value.split_once('=')) {
                ("property", Some((_, HIDDEN))) => {}
                ("property", Some((k, v))) => command.options.push((canonical(k), v.into())),
                _ => command.options.push((option.into(), value.clone())),
            }
        } else if let Some((name, value)) = word.strip_prefix("--").and_then(|w| w.split_once('='))
        {
            command.options.push((canonical(name), value.into()));
        } else if let Some(name) = word.strip_prefix("--") {
            let next = rest.peek();
            let has_value = next.is_some_and(|w| {
                !w.starts_with('-') && !VERBS.contains(&w.as_str()) && !w.starts_with("oltp_")
            });
            let value = match has_value {
                true => rest.next().cloned().unwrap_or_default(),
                false => "on".into(),
            };
            command.options.push((canonical(name), value));
        } else if let Some((name, value)) = attached(tool, word) {
            command.options.push((name.into(), value.into()));
        } else if is_attached(tool, word) {
            // A number behind a flag that is not known.
        } else if let Some(what) = tool.command_flag(word) {
            command.options.push(("command".into(), what.into()));
        } else if word.starts_with('-') {
            command
                .options
                .push((word.trim_start_matches('-').into(), "on".into()));
        } else {
            plain.push(word.clone());
        }
    }
    let is_workload = |w: &&String| !VERBS.contains(&w.as_str()) && !w.contains('@');
    let script = words.get(at).filter(|w| w.ends_with(".lua"));
    command.workload = script
        .into_iter()
        .chain(&plain)
        .find(is_workload)
        .map(|w| base_name(w).trim_end_matches(".lua").to_string())
        .unwrap_or_default();
    let verb = plain
        .iter()
        .find(|w| matches!(w.as_str(), "run" | "load" | "prepare" | "cleanup" | "check"));
    if let Some(verb) = verb {
        command.options.push(("command".into(), verb.clone()));
    }
    for (name, value) in &command.options {
        match name.as_str() {
            "workload-file" | "benchmark" | "builtin" => {
                command.workload = base_name(value).into();
            }
            "workload-name" if tool.name == "sysbench" => {
                command.workload = base_name(value).trim_end_matches(".lua").into();
            }
            _ => {}
        }
    }
    if matches!(tool.name, "k6" | "hammerdb") {
        command.workload = command.workload.trim_end_matches(".js").to_string();
    }
    Some(command)
}

/// What stands in the place of a password.
const HIDDEN: &str = "***";

/// What ends the words of a command.
pub(crate) const ENDS_OF_COMMANDS: [&str; 8] = ["|", ">", ">>", "&", "&&", ";", "2>&1", "tee"];

/// What the words of tpcc-mysql's old command line are, which has no flags.
const PLACES: [&str; 8] = [
    "host",
    "db",
    "user",
    "password",
    "warehouses",
    "threads",
    "warmup-time",
    "time",
];
/// The password's among them.
const PLACE_OF_PASSWORD: usize = 3;

/// How many words are told by their places: with the password, or none.
fn placed(tool: &Tool, words: &[String]) -> usize {
    let is_end = |w: &&String| w.starts_with('-') || ENDS_OF_COMMANDS.contains(&w.as_str());
    let placed = words.iter().take(PLACES.len()).take_while(|w| !is_end(w));
    let placed = placed.count();
    match tool.name == "tpcc-mysql" && placed > PLACE_OF_PASSWORD {
        true => placed,
        false => 0,
    }
}

/// Whether a word is a flag of a password, whose value it may hold.
fn is_password(tool: &Tool, word: &str) -> bool {
    let letter = match tool.name {
        // `-p name=value` is a property.
        "tidemark" => word == "-p",
        _ => tool.has_password_letter && word.starts_with("-p"),
    };
    let name = word
        .strip_prefix("--")
        .map(|w| w.split('=').next().unwrap_or(w));
    letter || name.is_some_and(|name| is_password_name(&canonical(name)))
}

/// The words with every password hidden, and whether there was one.
fn without_passwords(tool: &Tool, words: &[String]) -> (Vec<String>, bool) {
    let mut hidden = false;
    let mut next = false;
    let hide = |word: &String| {
        let is_property = |w: &str| tool.name == "tidemark" && w.contains('=');
        if std::mem::take(&mut next) && !is_property(word) && !word.starts_with("--") {
            hidden = true;
            return HIDDEN.to_string();
        }
        if let Some((name, value)) = word.split_once('=')
            && is_password_name(&canonical(name))
        {
            hidden |= !value.is_empty();
            return format!("{name}={HIDDEN}");
        }
        if !is_password(tool, word) {
            return word.clone();
        }
        if !word.starts_with("--") && word.len() > 2 {
            hidden = true;
            return format!("-p{HIDDEN}");
        }
        // mysqlslap asks for one that is not glued to its letter.
        next = !(tool.name == "mysqlslap" && word == "-p");
        word.clone()
    };
    let words = words.iter().map(hide).collect();
    (words, hidden)
}

const PREFIXES: [&str; 17] = [
    "time", "sudo", "nohup", "exec", "numactl", "taskset", "tiup", "docker", "run", "env", "bench",
    "python", "python2", "python3", "java", "Command:", "bash",
];

/// `-uroot`, `-c8`: what the flag means, and its value.
fn attached<'w>(tool: &Tool, word: &'w str) -> Option<(&'static str, &'w str)> {
    let (flag, value) = word.split_at_checked(2)?;
    if !tool.glues_values || value.is_empty() || flag == "--" {
        return None;
    }
    Some((tool.flag(flag)?, value.trim_start_matches('=')))
}

fn is_attached(tool: &Tool, word: &str) -> bool {
    let bytes = word.as_bytes();
    let digit = bytes.get(2).is_some_and(u8::is_ascii_digit);
    tool.glues_values
        && word.starts_with('-')
        && bytes.get(1).is_some_and(u8::is_ascii_alphabetic)
        && digit
}

pub(crate) fn program(word: &str) -> Option<&'static Tool> {
    let name = base_name(word);
    // Scripts of sysbench may be programs themselves: `./tpcc.lua … run`.
    if name.ends_with(".lua") && word.starts_with(['.', '/']) {
        return Some(Tool::named("sysbench"));
    }
    Tool::of_program(name)
}

pub(crate) fn base_name(word: &str) -> &str {
    word.rsplit(['/', '\\']).next().unwrap_or(word)
}

/// Words as a shell would have them, of plain quoting.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    let mut any = false;
    for c in text.chars() {
        match (quote, c) {
            (Some(q), c) if q == c => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => (quote, any) = (Some(c), true),
            (None, '`') => {}
            (None, c) if c.is_whitespace() => {
                if any || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            (None, c) => word.push(c),
        }
        if words.len() > 400 {
            break;
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    // A single bullet or prompt stands for itself.
    while words.first().is_some_and(|w| PROMPTS.contains(&w.as_str())) {
        words.remove(0);
    }
    // `tiup bench tpcc` runs go-tpc.
    if let [a, b, ..] = words.as_slice()
        && base_name(a) == "tiup"
        && b == "bench"
    {
        words.splice(0..2, ["go-tpc".to_string()]);
    }
    words
}

#[cfg(test)]
mod tests;
