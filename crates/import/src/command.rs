//! Command lines that stand before outputs: which tool, which options. Their passwords end here.

use tidemark_core::is_password_name;

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

/// Programs, and the tool that each is.
const PROGRAMS: [(&str, &str); 18] = [
    ("sysbench", "sysbench"),
    ("go-tpc", "go-tpc"),
    ("go-ycsb", "go-ycsb"),
    ("ycsb", "ycsb"),
    ("ycsb.sh", "ycsb"),
    ("ycsb.py", "ycsb"),
    ("site.ycsb.Client", "ycsb"),
    ("com.yahoo.ycsb.Client", "ycsb"),
    ("pgbench", "pgbench"),
    ("oltpbenchmark", "benchbase"),
    ("benchbase.jar", "benchbase"),
    ("tpccbenchmark", "benchbase"),
    ("hammerdbcli", "hammerdb"),
    ("mysqlslap", "mysqlslap"),
    ("mariadb-slap", "mysqlslap"),
    ("tpcc_start", "tpcc-mysql"),
    ("k6", "k6"),
    ("tidemark", "tidemark"),
];

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

/// Flags with a value that stands apart, and what the flag means. Everything else with a value is
/// written with `=`, or begins with `--` and is followed by a word.
const SHORT: [(&str, &str, &str); 23] = [
    ("go-tpc", "-T", "threads"),
    ("go-tpc", "-t", "acThreads"),
    ("go-tpc", "-H", "host"),
    ("go-tpc", "-P", "port"),
    ("go-tpc", "-D", "db"),
    ("go-tpc", "-U", "user"),
    ("go-tpc", "-d", "driver"),
    ("go-ycsb", "-P", "workload-file"),
    ("go-ycsb", "-p", "property"),
    ("ycsb", "-P", "workload-file"),
    ("ycsb", "-p", "property"),
    ("ycsb", "-threads", "threads"),
    ("ycsb", "-target", "target"),
    ("pgbench", "-c", "threads"),
    ("pgbench", "-j", "jobs"),
    ("pgbench", "-T", "time"),
    ("pgbench", "-t", "transactions"),
    ("pgbench", "-s", "scale"),
    ("pgbench", "-R", "rate"),
    ("pgbench", "-f", "file"),
    ("pgbench", "-b", "builtin"),
    ("pgbench", "-P", "report-interval"),
    ("pgbench", "-M", "protocol"),
];
const MORE_SHORT: [(&str, &str, &str); 27] = [
    ("ycsb", "-db", "db"),
    ("pgbench", "-h", "host"),
    ("pgbench", "-p", "port"),
    ("pgbench", "-U", "user"),
    ("pgbench", "-D", "define"),
    ("pgbench", "-F", "fillfactor"),
    ("pgbench", "-L", "latency-limit"),
    ("tpcc-mysql", "-h", "host"),
    ("tpcc-mysql", "-P", "port"),
    ("tpcc-mysql", "-u", "user"),
    ("tpcc-mysql", "-d", "db"),
    ("mysqlslap", "-u", "user"),
    ("mysqlslap", "-h", "host"),
    ("mysqlslap", "-P", "port"),
    ("mysqlslap", "-S", "socket"),
    ("mysqlslap", "-i", "iterations"),
    ("mysqlslap", "-q", "query"),
    ("mysqlslap", "-e", "engine"),
    ("benchbase", "-b", "benchmark"),
    ("benchbase", "-c", "config"),
    ("benchbase", "-s", "report-interval"),
    ("tpcc-mysql", "-w", "warehouses"),
    ("tpcc-mysql", "-c", "threads"),
    ("tpcc-mysql", "-r", "warmup-time"),
    ("tpcc-mysql", "-l", "time"),
    ("tpcc-mysql", "-i", "report-interval"),
    ("mysqlslap", "-c", "threads"),
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
        let is_test = begins.iter().any(|b| first.starts_with(b)) || first.ends_with(".lua");
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
    let (rest, hidden) = without_passwords(tool, rest);
    let text = match hidden {
        // Its quotes are gone, too.
        true => [words.get(..=at)?, &rest].concat().join(" "),
        false => without_prompt(text).to_string(),
    };
    let mut command = CommandLine {
        tool,
        text: text.chars().take(4000).collect(),
        line,
        ..CommandLine::default()
    };
    let mut rest = rest.iter().peekable();
    let mut plain = Vec::new();
    while let Some(word) = rest.next() {
        if is_password(tool, word) {
            rest.next_if(|w| *w == HIDDEN);
            continue;
        }
        if matches!(
            word.as_str(),
            "|" | ">" | ">>" | "&" | "&&" | ";" | "2>&1" | "tee"
        ) {
            break;
        }
        let known = SHORT.iter().chain(&MORE_SHORT);
        let short = known
            .filter(|(of, ..)| *of == tool)
            .find(|(_, flag, _)| flag == word);
        if let Some((_, _, name)) = short {
            let Some(value) = rest.next() else { break };
            match (*name, value.split_once('=')) {
                ("property", Some((_, HIDDEN))) => {}
                ("property", Some((k, v))) => command.options.push((canonical(k), v.into())),
                _ => command.options.push(((*name).into(), value.clone())),
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
        } else if tool == "ycsb" && matches!(word.as_str(), "-t" | "-load") {
            let what = if word == "-t" { "run" } else { "load" };
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
            "workload-name" if tool == "sysbench" => {
                command.workload = base_name(value).trim_end_matches(".lua").into();
            }
            _ => {}
        }
    }
    if tool == "k6" || tool == "hammerdb" {
        command.workload = command.workload.trim_end_matches(".js").to_string();
    }
    Some(command)
}

/// What stands in the place of a password.
const HIDDEN: &str = "***";

/// Whether a word is a flag of a password, whose value it may hold.
fn is_password(tool: &str, word: &str) -> bool {
    let letter = match tool {
        "go-tpc" | "tpcc-mysql" | "mysqlslap" => word.starts_with("-p"),
        // `-p name=value` is a property.
        "tidemark" => word == "-p",
        _ => false,
    };
    let name = word
        .strip_prefix("--")
        .map(|w| w.split('=').next().unwrap_or(w));
    letter || name.is_some_and(|name| is_password_name(&canonical(name)))
}

/// The words with every password hidden, and whether there was one.
fn without_passwords(tool: &str, words: &[String]) -> (Vec<String>, bool) {
    let mut hidden = false;
    let mut next = false;
    let hide = |word: &String| {
        let is_property = |w: &str| tool == "tidemark" && w.contains('=');
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
        next = !(tool == "mysqlslap" && word == "-p");
        word.clone()
    };
    let words = words.iter().map(hide).collect();
    (words, hidden)
}

const PREFIXES: [&str; 17] = [
    "time", "sudo", "nohup", "exec", "numactl", "taskset", "tiup", "docker", "run", "env", "bench",
    "python", "python2", "python3", "java", "Command:", "bash",
];

/// Tools whose flags of one letter may have their values right behind.
const GLUED: [&str; 4] = ["pgbench", "tpcc-mysql", "go-tpc", "mysqlslap"];

/// `-uroot`, `-c8`: what the flag means, and its value.
fn attached<'w>(tool: &str, word: &'w str) -> Option<(&'static str, &'w str)> {
    let (flag, value) = word.split_at_checked(2)?;
    if !GLUED.contains(&tool) || value.is_empty() || flag == "--" {
        return None;
    }
    let mut known = SHORT.iter().chain(&MORE_SHORT);
    let (.., name) = known.find(|(of, f, _)| *of == tool && *f == flag)?;
    Some((*name, value.trim_start_matches('=')))
}

fn is_attached(tool: &str, word: &str) -> bool {
    let bytes = word.as_bytes();
    let digit = bytes.get(2).is_some_and(u8::is_ascii_digit);
    GLUED.contains(&tool)
        && word.starts_with('-')
        && bytes.get(1).is_some_and(u8::is_ascii_alphabetic)
        && digit
}

fn program(word: &str) -> Option<&'static str> {
    let name = base_name(word);
    // Scripts of sysbench may be programs themselves: `./tpcc.lua … run`.
    if name.ends_with(".lua") && word.starts_with(['.', '/']) {
        return Some("sysbench");
    }
    let found = PROGRAMS.iter().find(|(program, _)| *program == name);
    found.map(|(_, tool)| *tool)
}

fn base_name(word: &str) -> &str {
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
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_recognised_and_prose_is_not() {
        let c = command(
            "> ./bin/go-ycsb run mysql -P workloads/workloada -p recordcount=1000 --threads 32",
            7,
        )
        .unwrap();
        assert_eq!((c.tool, &*c.workload, c.line), ("go-ycsb", "workloada", 7));
        assert!(c.options.contains(&("recordcount".into(), "1000".into())));
        assert!(c.options.contains(&("threads".into(), "32".into())));
        let c = command(
            "sysbench --threads=8 --config-file=config oltp_point_select --tables=16 run",
            1,
        )
        .unwrap();
        assert_eq!((c.tool, &*c.workload), ("sysbench", "oltp_point_select"));
        let c = command("$ tiup bench tpcc --warehouses 100 -T 16 run", 1).unwrap();
        assert_eq!((c.tool, &*c.workload), ("go-tpc", "tpcc"));
        assert!(c.options.contains(&("threads".into(), "16".into())));
        let c = command("pgbench -c 8 -j2 -T 60 -S bench", 1).unwrap();
        assert!(c.options.contains(&("jobs".into(), "2".into())));
        for (line, text) in [
            (
                "> ./bin/go-tpc tpcc -H h -p geheim -T 8 run",
                "./bin/go-tpc tpcc -H h -p *** -T 8 run",
            ),
            (
                "tiup bench -U root -p geheim tpcc run",
                "go-tpc -U root -p *** tpcc run",
            ),
            (
                "mysqlslap -uroot -pgeheim -c 8",
                "mysqlslap -uroot -p*** -c 8",
            ),
            (
                "tpcc_start -h127.0.0.1 -uroot -p geheim -w10",
                "tpcc_start -h127.0.0.1 -uroot -p *** -w10",
            ),
            (
                "sysbench --mysql-password='ge heim' oltp_read_only run",
                "sysbench --mysql-password=*** oltp_read_only run",
            ),
            (
                "go-ycsb run mysql -P workloada -p mysql.password=geheim",
                "go-ycsb run mysql -P workloada -p mysql.password=***",
            ),
        ] {
            let c = command(line, 1).unwrap();
            assert_eq!(c.text, text);
            assert!(!format!("{c:?}").contains("heim"), "{c:?}");
            assert_ne!(c.workload, "***");
        }
        for prose in [
            "Use sysbench and go-ycsb to test",
            "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)",
            "We ran sysbench with --threads=8",
            "pgbench (15.18)",
            "",
        ] {
            assert_eq!(command(prose, 1), None, "{prose}");
        }
    }
}
