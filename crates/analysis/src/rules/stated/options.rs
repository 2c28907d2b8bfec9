//! Options that deny what is said of a run, or empty it.

use super::view::{ImportedRun, Range};
use super::{commands, counted, finding};
use crate::rules::setting_contradicts::denied_mode;
use crate::texts::{
    degenerate_option, failed_run, same_output, setting_contradicts, wrong_column,
    wrong_working_set,
};
use crate::thresholds::{LAW_HOLDS, LAW_HOLDS_SWAPPED, LAW_REFUTED, OPERATIONS_A_RECORD};
use crate::{Figure, Finding, Severity};
use std::collections::BTreeSet;
use tidemark_core::record::RunState;
use tidemark_core::tools::TOOLS;

/// Figures of a run that had failed.
pub(super) fn failed_run(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let RunState::Failed(why) = &view.record.state else {
        return Some(nothing_done(view).into_iter().collect());
    };
    let figures = vec![
        ("line", Figure::Count(view.imported.first_line)),
        ("why", Figure::Text(why.chars().take(120).collect())),
    ];
    Some(vec![finding(
        "failed-run",
        Severity::Invalid,
        failed_run::SAYS,
        failed_run::INSTEAD,
        figures,
    )])
}

/// An output that the document has twice.
pub(super) fn same_output(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let told = |line: u64, other: Range, severity, says, instead| {
        let figures = vec![
            ("line", Figure::Count(line)),
            ("other", counted(other.value)),
        ];
        finding("same-output", severity, says, instead, figures)
    };
    let first = view.imported.first_line;
    let again = view.beside("pasted_again").map(|other| {
        let (says, instead) = (same_output::AGAIN, same_output::AGAIN_INSTEAD);
        told(first, other, Severity::Note, says, instead)
    });
    let elsewhere = view.beside("pasted_from").map(|other| {
        let (says, instead) = (same_output::ELSEWHERE, same_output::ELSEWHERE_INSTEAD);
        told(first, other, Severity::Suspect, says, instead)
    });
    Some(again.into_iter().chain(elsewhere).collect())
}

/// No New-Order beside other transactions.
fn nothing_done(view: &ImportedRun<'_>) -> Option<Finding> {
    let nopm = view.all("nopm")?;
    let all = view.all("tpm").or(view.all("tpm_total"))?;
    let figures = vec![
        ("line", Figure::Count(nopm.line)),
        ("all", counted(all.value)),
    ];
    (nopm.value <= 0.0 && all.value > 0.0).then(|| {
        finding(
            "failed-run",
            Severity::Invalid,
            failed_run::NOTHING,
            failed_run::INSTEAD,
            figures,
        )
    })
}

/// A number of sessions that the heading or the command says, and the output denies.
pub(super) fn setting_contradicts(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut found: Vec<Finding> = other_tool(view).into_iter().collect();
    found.extend(other_mode(view));
    let (sessions, command) = (sessions_contradict(view), commands::contradict(view));
    if sessions.is_none() && command.is_none() && found.is_empty() {
        return None;
    }
    found.extend([sessions, command].into_iter().flatten().flatten());
    Some(found)
}

/// A heading that names one tool above another's output.
fn other_tool(view: &ImportedRun<'_>) -> Option<Finding> {
    let tool = view.tool();
    let heading = view.imported.heading.to_lowercase();
    if tool.called.is_empty() {
        return None;
    }
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words: BTreeSet<&str> = heading.split(|c: char| !is_word(c)).collect();
    let names: BTreeSet<&str> = TOOLS.iter().flat_map(|t| t.called).copied().collect();
    let mut named = names.intersection(&words);
    let said = named.next()?;
    // Beside others it compares them.
    if named.next().is_some() || tool.called.contains(said) {
        return None;
    }
    let figures = vec![
        ("line", Figure::Count(view.imported.first_line)),
        ("said", Figure::Text((*said).into())),
        ("tool", Figure::Text(tool.name.into())),
    ];
    let (says, instead) = (setting_contradicts::TOOL, setting_contradicts::INSTEAD);
    Some(finding(
        "setting-contradicts",
        Severity::Note,
        says,
        instead,
        figures,
    ))
}

/// A mode that the heading names, where the document sets the other on the server.
fn other_mode(view: &ImportedRun<'_>) -> Option<Finding> {
    let options = view.record.options.iter();
    let values = options.map(|(name, option)| (name.as_str(), option.value.as_str()));
    let (said, (name, stated)) = denied_mode(&view.imported.heading, values)?;
    let figures = vec![
        ("line", Figure::Count(view.line_of(name))),
        ("name", Figure::Text(name.into())),
        ("said", Figure::Text(said.into())),
        ("stated", Figure::Text(stated.into())),
    ];
    let (says, instead) = (setting_contradicts::MODE, setting_contradicts::INSTEAD);
    Some(finding(
        "setting-contradicts",
        Severity::Suspect,
        says,
        instead,
        figures,
    ))
}

fn sessions_contradict(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let threads = view.number("threads")?;
    let line = view.line_of("threads");
    // What stands above a table may be of each client, or of one row.
    let of_heading = threads_of(&view.imported.heading).filter(|_| view.imported.tool != "table");
    let said = [of_heading, threads_of_command(&view.record.command)];
    let mut said = said.into_iter().flatten().peekable();
    said.peek()?;
    let other = said.find(|n| *n != threads);
    Some(other.map_or(Vec::new(), |said| {
        let figures = vec![
            ("line", Figure::Count(line)),
            ("said", counted(said)),
            ("threads", counted(threads)),
        ];
        let (says, instead) = (setting_contradicts::SAYS, setting_contradicts::INSTEAD);
        vec![finding(
            "setting-contradicts",
            Severity::Suspect,
            says,
            instead,
            figures,
        )]
    }))
}

/// `64 threads`, `64 线程`, `threads=64`, where a text has one such number alone.
fn threads_of(text: &str) -> Option<f64> {
    let text = text.to_lowercase();
    let words = ["threads", "thread", "线程", "并发"];
    let mut found = words.iter().filter_map(|word| {
        let at = text.find(word)?;
        let before = text.get(..at)?.trim_end_matches([' ', '-', '个']);
        let digits = before.len() - before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let number: Option<f64> = before.get(digits..)?.parse().ok();
        if let Some(number) = number {
            // `8/16/32 threads` are three runs, `4x8` is not told.
            let list = before.get(..digits)?.trim_end();
            let listed =
                list.trim_end_matches([' ', '/', ',', '、', '，', '|', '-', '~', '到', '至']);
            let is_list =
                listed.len() < list.len() && listed.ends_with(|c: char| c.is_ascii_digit());
            let words = ["and", "or", "to", "vs", "vs.", "和", "与", "&", "+"];
            let joined = words.iter().any(|w| list.ends_with(w));
            return (!is_list && !joined).then_some(number);
        }
        let after = text.get(at + word.len()..)?;
        let value = after.trim_start_matches([' ', '=', ':', '：', '数']);
        let is_assigned = after
            .get(..after.len() - value.len())?
            .contains(['=', ':', '：', '数']);
        let end = value.bytes().take_while(u8::is_ascii_digit).count();
        let number = value.get(..end)?.parse().ok()?;
        // `并发 16 核` has no number of sessions; `threads 8, 16, 32` has several.
        let rest = value.get(end..)?.trim_start();
        let is_other = !is_assigned && rest.starts_with(char::is_alphabetic);
        let mut more = rest.chars().skip_while(|c| " /,、，-~".contains(*c));
        let is_list = rest.starts_with(['/', ',', '、', '，', '-', '~'])
            && more.next().is_some_and(|c| c.is_ascii_digit());
        (!is_other && !is_list).then_some(number)
    });
    found.next()
}

fn threads_of_command(words: &[String]) -> Option<f64> {
    let names = ["--threads=", "--num-threads=", "--client="];
    let joined = words
        .iter()
        .find_map(|w| names.iter().find_map(|n| w.strip_prefix(n)));
    joined?.parse().ok()
}

/// A time stamp or a time in the place of a figure.
pub(super) fn wrong_column(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let mut found = Vec::new();
    let mut judged = false;
    let mut tell = |name: &str, value: f64, line: u64, says, swapped: &str| {
        let figures = vec![
            ("line", Figure::Count(line)),
            ("name", Figure::Text(name.into())),
            ("value", Figure::Number(value)),
            ("other", Figure::Text(swapped.into())),
        ];
        found.push(finding(
            "wrong-column",
            Severity::Invalid,
            says,
            wrong_column::INSTEAD,
            figures,
        ));
    };
    for name in ["nopm", "tpmc", "tpm_total", "tpm", "rate", "statement_rate"] {
        let Some(rate) = view.all(name) else { continue };
        judged = true;
        // Seconds or milliseconds since 1970; no system makes so much.
        if rate.value > 1e9 {
            tell(name, rate.value, rate.line, wrong_column::STAMP, "1970");
        }
    }
    if view.imported.tool == "table" {
        let (rate, mean, sessions) = (view.all("rate"), view.all("mean_ms"), view.sessions());
        if let (Some(rate), Some(mean), Some(p)) =
            (rate, mean, view.percentiles("").last().map(|(_, ms)| *ms))
        {
            judged = true;
            // The mean is above its percentile, and the two in each other's place fit. Where other rows of
            // its table have them in order, a figure is wrong and no heading.
            let is_column = view.beside("others_in_order").is_none();
            let fits = |ms: f64| {
                sessions.is_none_or(|s| (rate.value * ms / 1000.0 / s - 1.0).abs() < LAW_HOLDS)
            };
            if is_column && mean.value > p.value && fits(p.value) && !fits(mean.value) {
                tell(
                    "mean_ms",
                    mean.value,
                    mean.line,
                    wrong_column::SWAPPED,
                    "percentile",
                );
            }
        }
        found_by_percentile(view, &mut tell);
        if let (Some(rate), Some(statements)) = (rate, view.all("statement_rate")) {
            judged = true;
            let fits = |r: f64| {
                sessions
                    .zip(mean)
                    .is_none_or(|(s, ms)| (r * ms.value / 1000.0 / s - 1.0).abs() < LAW_HOLDS)
            };
            if rate.value > statements.value * 1.01 && fits(statements.value) {
                tell(
                    "rate",
                    rate.value,
                    rate.line,
                    wrong_column::SWAPPED,
                    "statement_rate",
                );
            }
        }
        if let (Some(mean), Some(elapsed)) = (mean, view.all("elapsed_s")) {
            judged = true;
            if mean.value == elapsed.value && sessions.is_some() {
                tell(
                    "mean_ms",
                    mean.value,
                    mean.line,
                    wrong_column::COPIED,
                    "elapsed_s",
                );
            }
        }
        if let (Some(rate), Some(s), Some(mean)) = (rate, sessions, mean) {
            judged = true;
            // Sessions in the column of the latency, or of the rate.
            let law =
                |rate: f64, sessions: f64, ms: f64| (rate * ms / 1000.0 / sessions - 1.0).abs();
            let highest = view.percentiles("").last().map(|(_, ms)| ms.value);
            let below = |ms: f64| highest.is_none_or(|highest| ms <= highest);
            let as_mean = law(rate.value, mean.value, s) < LAW_HOLDS_SWAPPED && below(s);
            let as_rate = law(s, rate.value, mean.value) < LAW_HOLDS_SWAPPED;
            let other = match (as_mean, as_rate) {
                (true, true) => Some("rate / mean_ms"),
                (true, false) => Some("mean_ms"),
                (false, true) => Some("rate"),
                (false, false) => None,
            };
            if let Some(other) = other.filter(|_| law(rate.value, s, mean.value) > LAW_REFUTED) {
                let line = view.line_of("threads");
                tell("threads", s, line, wrong_column::SWAPPED, other);
            }
        }
    }
    judged.then_some(found)
}

/// A rate or a number of sessions in the place of a latency, which a percentile beside it shows.
fn found_by_percentile(
    view: &ImportedRun<'_>,
    tell: &mut impl FnMut(&str, f64, u64, crate::Both, &str),
) {
    let (Some(rate), Some(mean), Some(sessions)) =
        (view.all("rate"), view.all("mean_ms"), view.sessions())
    else {
        return;
    };
    let percentiles = view.percentiles("");
    let Some((percent, high)) = percentiles.last().map(|(p, ms)| (*p, *ms)) else {
        return;
    };
    let apart = |rate: f64, sessions: f64, ms: f64| (rate * ms / 1000.0 / sessions - 1.0).abs();
    let name = format!("p{percent}_ms");
    // Their product is the same in either place: the percentile is above one of them alone.
    let is_product = apart(rate.value, sessions, mean.value) < LAW_HOLDS;
    if is_product
        && mean.value > high.value * 2.0
        && rate.value <= high.value
        && view.beside("others_in_order").is_none()
    {
        tell(
            "rate",
            rate.value,
            rate.line,
            wrong_column::SWAPPED,
            "mean_ms",
        );
    } else if apart(rate.value, sessions, mean.value) > LAW_REFUTED && mean.value <= rate.value {
        if apart(high.value, sessions, mean.value) < LAW_HOLDS_SWAPPED {
            tell("rate", rate.value, rate.line, wrong_column::SWAPPED, &name);
        } else if apart(rate.value, high.value, mean.value) < LAW_HOLDS_SWAPPED
            && mean.value <= sessions
        {
            let line = view.line_of("threads");
            tell("threads", sessions, line, wrong_column::SWAPPED, &name);
        }
    }
}

/// The run touched other data than was loaded.
pub(super) fn working_set(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    if let Some(found) = other_set(view) {
        return Some(found);
    }
    let records = view.number("recordcount")?;
    let operations = view.number("operationcount")?;
    let is_load =
        view.option("command") == Some("load") || view.option("dotransactions") == Some("false");
    let by_hand = view
        .record
        .command
        .iter()
        .any(|w| w.starts_with("recordcount="));
    // What a run that is told nothing uses.
    if is_load
        || by_hand
        || view.record.command.is_empty()
        || records != 1000.0
        || operations < OPERATIONS_A_RECORD * records
    {
        return Some(Vec::new());
    }
    let figures = vec![
        ("line", Figure::Count(view.line_of("recordcount"))),
        ("records", Figure::Number(records)),
    ];
    let (says, instead) = (wrong_working_set::SAYS, wrong_working_set::INSTEAD);
    Some(vec![finding(
        "wrong-working-set",
        Severity::Suspect,
        says,
        instead,
        figures,
    )])
}

/// Records that the files of standard workloads set.
const RECORDS: f64 = 1000.0;

/// The load's command says how many records, the run's does not, and its workload is a standard one.
fn other_set(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    let loaded = view.beside("loaded_records")?;
    let file = view.option("workload-file")?;
    let name = file.rsplit('/').next()?.strip_prefix("workload")?;
    let is_standard = name.len() == 1 && name.starts_with(|c: char| ('a'..='f').contains(&c));
    if !is_standard || loaded.value <= RECORDS {
        return Some(Vec::new());
    }
    let figures = vec![
        ("line", Figure::Count(view.imported.first_line)),
        ("loaded", counted(loaded.value)),
        ("records", counted(RECORDS)),
        ("file", Figure::Text(file.into())),
    ];
    let (says, instead) = (wrong_working_set::DEFAULT, wrong_working_set::INSTEAD);
    let severity = Severity::Suspect;
    Some(vec![finding(
        "wrong-working-set",
        severity,
        says,
        instead,
        figures,
    )])
}

/// Options that empty a workload, and what each does.
pub(super) fn degenerate(view: &ImportedRun<'_>) -> Option<Vec<Finding>> {
    if view.record.options.is_empty() {
        return None;
    }
    let off = |v: &str| matches!(v, "off" | "0" | "false" | "no");
    let standard = view.tool().has_standard_workload(&view.record.workload);
    let mut found = Vec::new();
    for (name, is_degenerate) in [
        ("maxscanlength", view.option("maxscanlength") == Some("1")),
        (
            "requestdistribution",
            standard && view.option("requestdistribution") == Some("uniform"),
        ),
        (
            "range-selects",
            view.option("range-selects").is_some_and(off),
        ),
        ("skip-trx", view.option("skip-trx").is_some_and(|v| !off(v))),
    ] {
        let Some(value) = view.option(name).filter(|_| is_degenerate) else {
            continue;
        };
        let figures = vec![
            ("line", Figure::Count(view.line_of(name))),
            ("option", Figure::Text(name.into())),
            ("value", Figure::Text(value.into())),
        ];
        let (says, instead) = (degenerate_option::SAYS, degenerate_option::INSTEAD);
        found.push(finding(
            "degenerate-option",
            Severity::Note,
            says,
            instead,
            figures,
        ));
    }
    Some(found)
}
