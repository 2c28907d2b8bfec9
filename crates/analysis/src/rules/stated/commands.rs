//! What a command asks for beside what its output says.

use super::finding;
use super::view::{ImportedRun, Range};
use crate::texts::setting_contradicts::{COMMAND, INSTEAD};
use crate::thresholds::{ENDS_S, STATED_TIME_APART};
use crate::{Figure, Finding, Severity};
use tidemark_core::{Source, parse_duration};

/// Flags of a tool, and the option that its output states.
const FLAGS: [(&str, &[&str], &str); 11] = [
    ("sysbench", &["--report-interval"], "report-interval"),
    ("sysbench", &["--rate"], "rate"),
    ("pgbench", &["-c", "--client"], "threads"),
    ("pgbench", &["-j", "--jobs"], "jobs"),
    ("pgbench", &["-T", "--time"], "time"),
    ("pgbench", &["-t", "--transactions"], "transactions"),
    ("pgbench", &["-M", "--protocol"], "protocol"),
    ("go-tpc", &["--warehouses"], "warehouses"),
    ("tpcc-mysql", &["-c"], "threads"),
    ("tpcc-mysql", &["-w"], "warehouses"),
    ("tpcc-mysql", &["-l"], "time"),
];

/// `None` where no flag of the command is stated in the output.
pub(super) fn contradict(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut judged = false;
    let mut found = Vec::new();
    let flags = FLAGS.iter().filter(|(t, ..)| *t == view.imported.tool);
    for (_, names, option) in flags {
        let (Some(said), Some(stated)) = (given(view, names), printed(view, option)) else {
            continue;
        };
        judged = true;
        // pgbench has no more threads than clients.
        let most = match *option {
            "jobs" => view.sessions(),
            _ => None,
        };
        let is_capped = most.is_some_and(|most| {
            let numbers = said.parse::<f64>().ok().zip(stated.parse::<f64>().ok());
            numbers.is_some_and(|(said, stated)| said > most && stated == most)
        });
        if !is_same(&said, stated) && !is_capped {
            let name = names.first().copied().unwrap_or_default();
            let flag = name.to_string();
            found.push(tell(flag, said, view.line_of(option), stated.into()));
        }
    }
    for (name, said) in properties(view) {
        let Some(stated) = printed(view, &name) else {
            continue;
        };
        judged = true;
        if !is_same(&said, stated) {
            let flag = format!("-p {name}");
            found.push(tell(flag, said, view.line_of(&name), stated.into()));
        }
    }
    let clients =
        given(view, &["--concurrency", "-c"]).filter(|_| view.imported.tool == "mysqlslap");
    if let (Some(said), Some(stated)) = (clients, printed(view, "threads")) {
        judged = true;
        if !said.split(',').any(|one| is_same(one, stated)) {
            let flag = "--concurrency".to_string();
            found.push(tell(flag, said, view.line_of("threads"), stated.into()));
        }
    }
    if let Some(of_time) = time(view) {
        judged = true;
        found.extend(of_time);
    }
    judged.then_some(found)
}

fn tell(option: String, said: String, line: u64, stated: String) -> Finding {
    let short = |text: String| Figure::Text(text.chars().take(60).collect());
    let figures = vec![
        ("option", short(option)),
        ("said", short(said)),
        ("line", Figure::Count(line)),
        ("stated", short(stated)),
    ];
    finding(
        "setting-contradicts",
        Severity::Suspect,
        COMMAND,
        INSTEAD,
        figures,
    )
}

/// An option as the output states it.
fn printed<'r>(view: &ImportedRun<'r>, option: &str) -> Option<&'r str> {
    let stated = view.record.options.get(option)?;
    (stated.source == Source::Output && !stated.value.is_empty()).then_some(stated.value.as_str())
}

fn is_same(a: &str, b: &str) -> bool {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a.trim().eq_ignore_ascii_case(b.trim()),
    }
}

/// The value of a flag: `--threads=8`, `--threads 8`, `-T 8`, `-T8`; the last one counts.
fn given(view: &ImportedRun<'_>, names: &[&str]) -> Option<String> {
    let words = &view.record.command;
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        for name in names {
            let rest = word.strip_prefix(name);
            let value = match rest {
                Some("") => words.get(at + 1).map(String::as_str),
                Some(rest) => rest.strip_prefix('=').or_else(|| {
                    let is_short = !name.starts_with("--");
                    let is_number = rest.bytes().all(|b| b.is_ascii_digit());
                    (is_short && is_number).then_some(rest)
                }),
                None => None,
            };
            found = value.map(String::from).or(found);
        }
    }
    // A variable of the shell, or a place to fill in, says nothing.
    found.filter(|v| !v.starts_with('-') && !v.contains(['$', '{', '<', '%', '*', '`']))
}

/// Properties that the command sets, the last one of each name, where the tool prints all.
fn properties(view: &ImportedRun<'_>) -> Vec<(String, String)> {
    let words = &view.record.command;
    let mut all: Vec<(String, String)> = Vec::new();
    if !view.tool().prints_properties {
        return all;
    }
    for two in words.windows(2) {
        let [flag, property] = two else { continue };
        let Some((name, value)) = property.split_once('=').filter(|_| flag == "-p") else {
            continue;
        };
        let name = name.replace('_', "-");
        let name = match name.as_str() {
            "threadcount" => "threads".to_string(),
            _ => name,
        };
        // Passwords are hidden, and some flags set a property.
        let flag = format!("--{name}");
        if value.contains("***") || words.iter().any(|w| w.starts_with(&flag)) {
            continue;
        }
        all.retain(|(other, _)| *other != name);
        all.push((name, value.trim_matches(['"', '\'']).into()));
    }
    all
}

/// The time that the command asks for, beside the one that the run took.
fn time(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let names: &[&str] = match view.imported.tool.as_str() {
        "sysbench" => &["--time", "--max-time"],
        "go-tpc" => &["--time"],
        _ => return None,
    };
    let said = given(view, names)?;
    let asked = parse_duration(&said).ok()?.as_secs_f64();
    if asked <= 0.0 {
        return None;
    }
    let took = match view.imported.tool.as_str() {
        "sysbench" => view.all("elapsed_s")?,
        _ => view.of("NewOrder", "elapsed_s")?,
    };
    // A warm-up is in the time that is asked for or not, by the version.
    if ["warmup-time", "warmup"]
        .iter()
        .any(|w| view.option(w).is_some())
    {
        return None;
    }
    let of_parts = view.parts().into_iter();
    let slowest = of_parts.filter_map(|of| view.of(of, "max_ms"));
    let slowest = slowest.map(|ms| ms.value / 1000.0).fold(0.0, f64::max);
    let slack = STATED_TIME_APART * asked + ENDS_S;
    // It ends before where it has done what it was to do.
    let is_limited = ["events", "count"]
        .iter()
        .any(|limit| view.option(limit).is_some_and(|v| v != "0"));
    let version = view.imported.tool_version.as_deref();
    let was_limited = version.is_some_and(|v| v.starts_with("0."));
    let is_short = took.high < asked - slack && !is_limited && !was_limited;
    let is_long = took.low > asked + slack + slowest;
    let contradicts = is_short || is_long;
    let told = |took: Range| {
        tell(
            "--time".into(),
            said.clone(),
            took.line,
            took.value.to_string(),
        )
    };
    Some(contradicts.then(|| told(took)).into_iter().collect())
}
