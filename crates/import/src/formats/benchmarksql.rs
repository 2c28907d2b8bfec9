//! BenchmarkSQL: what its terminals were asked for, and the summary of a session.

use crate::doc::Doc;
use crate::draft::{Draft, From};
use crate::scan::{Number, number, value_of};
use jiff::civil::DateTime;

const TOOL: &str = "benchmarksql";

/// What a session came to.
const FIGURES: [(&str, &str); 2] = [
    ("Measured tpmC (NewOrders)", "tpmc"),
    ("Measured tpmTOTAL", "tpm_total"),
];

/// Settings by their printed name, and the option. Targets and accounts are none.
const SETTINGS: [(&str, &str); 10] = [
    ("warehouses", "warehouses"),
    ("terminals", "threads"),
    ("runTxnsPerTerminal", "runTxnsPerTerminal"),
    ("limitTxnsPerMin", "limitTxnsPerMin"),
    ("terminalWarehouseFixed", "terminalWarehouseFixed"),
    ("newOrderWeight", "newOrderWeight"),
    ("paymentWeight", "paymentWeight"),
    ("orderStatusWeight", "orderStatusWeight"),
    ("deliveryWeight", "deliveryWeight"),
    ("stockLevelWeight", "stockLevelWeight"),
];

/// `07:09:53,455 [Thread-351] INFO   jTPCC : Term-00, Measured tpmC (NewOrders) = 77373.25`. The summary
/// may be quoted without what stands before it, or follow the running average on its line.
pub(super) fn take(text: &str, line: u64, doc: &mut Doc) -> bool {
    let plain = text.trim_matches([' ', '\t', '>', '\r']);
    let is_log = plain.contains("jTPCC : ") || plain.starts_with("Term-00,");
    let body = match plain.rsplit_once("Term-00,") {
        Some((_, body)) => body.trim(),
        None => plain,
    };
    let figure = FIGURES.iter().find_map(|(label, name)| {
        let (n, _) = number(value_of(body.strip_prefix(*label)?))?;
        Some((*name, n))
    });
    if let Some((name, n)) = figure {
        let run = match doc.of(TOOL).is_some_and(|run| run.has("", name)) {
            true => doc.begin(TOOL, line),
            false => doc.run(TOOL, line),
        };
        run.has_summary = true;
        run.workload = "tpcc".into();
        run.figure("", name, n, line);
        return true;
    }
    if is_log && let Some(version) = body.strip_prefix("BenchmarkSQL v") {
        let run = doc.begin(TOOL, line);
        run.version = Some(version.trim().into());
        run.workload = "tpcc".into();
        return true;
    }
    // A frame is the first of an output.
    if is_log && body.starts_with("+--") && doc.of(TOOL).is_some_and(|run| run.has_summary) {
        doc.begin(TOOL, line);
        return true;
    }
    let Some(run) = doc.of(TOOL) else {
        return false;
    };
    let is_known = is_log && !run.has_summary && setting(run, body, line);
    let taken = is_known || session(run, body, line) || is_log;
    if taken {
        doc.touch(line);
    }
    taken
}

/// `warehouses=10`.
fn setting(run: &mut Draft, body: &str, line: u64) -> bool {
    let Some((name, value)) = body.split_once('=') else {
        return false;
    };
    let minutes = number(value).filter(|(n, _)| name == "runMins" && n.value > 0.0);
    if let Some((minutes, _)) = minutes {
        let seconds = (minutes.value * 60.0).to_string();
        run.option("time", &seconds, line, From::Output);
        return true;
    }
    let Some((_, option)) = SETTINGS.iter().find(|(printed, _)| *printed == name) else {
        return false;
    };
    run.option(option, value, line, From::Output);
    true
}

/// `Session Start     = 2019-03-21 07:07:52`, in whole seconds, and what follows it.
fn session(run: &mut Draft, body: &str, line: u64) -> bool {
    let Some((label, value)) = body.split_once('=') else {
        return false;
    };
    let value = value.trim();
    let moment = || value.parse::<DateTime>().ok();
    match label.trim() {
        "Session Start" => {
            run.started = moment();
            // Without a zone it is no moment that a record could have begun at.
            run.notes.extend(run.started.map(|at| {
                let at = at.strftime("%Y-%m-%d %H:%M:%S");
                format!("the session started at {at}, in a time zone that is not stated")
            }));
        }
        "Session End" => {
            let ends = run.started.zip(moment());
            let took = ends.map(|(started, ended)| ended.duration_since(started).as_secs_f64());
            if let Some(value) = took.filter(|took| *took > 0.0) {
                run.figure("", "elapsed_s", Number { value, decimals: 0 }, line);
                // Both ends are cut to seconds.
                if let Some(elapsed) = run.figures.last_mut() {
                    elapsed.rounding = 1.0;
                }
            }
        }
        "Transaction Count" => {
            if let Some((n, _)) = number(value) {
                run.figure("", "count", n, line);
            }
        }
        _ => return false,
    }
    true
}
