//! Drafts to run records. Nothing is made up: what a source did not state stays empty, and what is
//! worked out from other figures is noted.

use crate::Origin;
use crate::beside;
use crate::clients;
use crate::copies::Copies;
use crate::draft::{Draft, From};
use crate::formats::pgbench_log;
use crate::totals::Sum;
use crate::windows::WINDOW;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tidemark_core::Source;
use tidemark_core::record::{
    DerivedFigure, EffectiveOption, EncodedHistogram, Fairness, Imported, Interval, LatencyEnd,
    Phase, Quantiles, QueryRun, RateUnit, RunRecord, RunState, SCHEMA_VERSION, StatedFigure,
    StatementCounts, Totals, TypeStats,
};
use tidemark_core::tools::Tool;

/// The tag that imported runs bear, so that lists tell them from measured ones.
pub(crate) const TAG: &str = "imported";
/// Types that stand for all others together, or for none.
const NO_TYPES: [&str; 10] = [
    "TOTAL",
    "OVERALL",
    "CLEANUP",
    "statements",
    "histogram",
    "errors",
    "failed",
    "intended",
    "all",
    "interval",
];
/// The type that consists of two others, as each tool writes it.
pub(crate) const READ_MODIFY_WRITE: &str = "READ_MODIFY_WRITE";
pub(crate) const READ_MODIFY_WRITE_JAVA: &str = "READ-MODIFY-WRITE";

/// The records of a document's runs.
pub(crate) fn records(drafts: Vec<Draft>, origin: &Origin) -> Vec<RunRecord> {
    let mut made = Copies::default();
    for (draft, at) in drafts.into_iter().zip(0u32..) {
        let is_output = Copies::is_output(&draft);
        made.add(record(draft, at, origin), is_output);
    }
    clients::find_tests(&mut made.runs);
    beside::look(&mut made.runs);
    made.runs
}

fn record(draft: Draft, at: u32, origin: &Origin) -> RunRecord {
    let sum = Sum::of(&draft);
    let id = id(&draft, at);
    let workload = workload(&draft);
    let mut notes = draft.notes.clone();
    notes.extend(sum.notes.iter().cloned());
    if let Some(unit) = draft.without_unit {
        notes.push(format!(
            "{} states no unit of its latencies: they are taken as {}; import --unit names another",
            origin.file,
            unit.name()
        ));
    }
    let intervals = intervals(&draft, &workload);
    let quantiles = whole_quantiles(&draft.figures);
    let mut all = TypeStats {
        count: sum.count,
        quantiles: Some(Quantiles {
            mean_ms: quantiles.mean_ms.or(sum.mean_ms),
            ..quantiles
        }),
        ..TypeStats::default()
    };
    if let Some((histogram, count)) = &draft.packed {
        all.service = EncodedHistogram(histogram.clone());
        all.count = *count;
    }
    let figure = |name: &str| draft.value(name);
    let whole = |name: &str| figure(name).map_or(0, natural);
    let types = match sum.types.is_empty() {
        true if all.count > 0 && sum.unit == RateUnit::Transactions => {
            BTreeMap::from([("transaction".to_string(), all.clone())])
        }
        _ => sum.types,
    };
    let totals = Totals {
        elapsed_s: sum.elapsed_s,
        statements: StatementCounts {
            read: whole("read"),
            write: whole("write"),
            other: whole("other"),
            noop_writes: 0,
            round_trips: 0,
        },
        ignored_errors: sum.errors,
        reconnects: whole("reconnects"),
        types,
        all,
        fairness: Fairness {
            events_avg: figure("events_avg").unwrap_or_default(),
            events_stddev: figure("events_stddev").unwrap_or_default(),
            time_avg_s: figure("time_avg_s").unwrap_or_default(),
            time_stddev_s: figure("time_stddev_s").unwrap_or_default(),
            between_avg_s: None,
        },
        ..Totals::default()
    };
    let queries = draft.queries.iter().map(|(name, took, _)| QueryRun {
        name: name.clone(),
        took_ms: took * 1000.0,
        ..QueryRun::default()
    });
    let option_lines = draft.options.iter().map(|(n, o)| (n.clone(), o.line));
    let mut figures = draft.figures.clone();
    figures.extend(draft.queries.iter().map(|(name, took, line)| StatedFigure {
        of: name.clone(),
        name: "elapsed_s".into(),
        value: *took,
        rounding: 0.0,
        line: *line,
    }));
    RunRecord {
        schema_version: SCHEMA_VERSION,
        id,
        tidemark_version: env!("CARGO_PKG_VERSION").into(),
        started_at: origin.written_at.clone(),
        latency_end: LatencyEnd::Session,
        state: match &draft.failed {
            Some(why) => RunState::Failed(why.clone()),
            None if draft.has_no_end() => RunState::Interrupted,
            None => RunState::Finished,
        },
        tags: vec![TAG.into()],
        command: draft
            .command
            .iter()
            .flat_map(|c| c.split_whitespace())
            .map(String::from)
            .collect(),
        workload,
        target: format!("{}:{}", origin.file, draft.first_line),
        notes,
        options: options(&draft),
        sessions: sum.sessions,
        rate: rate(&draft),
        intervals,
        totals,
        queries: queries.collect(),
        imported: Some(Imported {
            tool: draft.tool.into(),
            tool_version: draft.version.clone(),
            file: origin.file.clone(),
            first_line: draft.first_line,
            last_line: draft.last_line,
            heading: draft.heading.clone(),
            client: client(&draft, origin),
            test: draft.client.is_some().then(|| draft.test.clone()),
            rate_unit: sum.unit,
            derived: sum.derived,
            not_understood: Vec::new(),
            figures,
            beside: of_all(&draft),
            option_lines: option_lines.collect(),
            intervals_merged: draft.merged > 1,
            intervals: draft.intervals,
        }),
        ..RunRecord::default()
    }
}

/// That a row is of all clients together, where its heading says so.
fn of_all(draft: &Draft) -> Vec<DerivedFigure> {
    let total = DerivedFigure {
        name: "is_total".into(),
        value: 1.0,
        rounding: 0.0,
        lines: vec![draft.first_line],
    };
    Vec::from_iter(draft.is_total.then_some(total))
}

/// Which client of several it is: by the document, or by the name of a thread's log.
fn client(draft: &Draft, origin: &Origin) -> Option<String> {
    let of_log = (draft.tool == "pgbench-log").then_some(origin.file.as_str());
    let thread = of_log.and_then(pgbench_log::thread);
    draft.client.clone().or_else(|| thread.map(String::from))
}

/// Queries beside transactions (CH-benCHmark) are none of them.
fn is_query(draft: &Draft, of: &str) -> bool {
    draft.workload == "ch" && of.starts_with('Q')
}

/// A number as a count.
pub(crate) fn natural(value: f64) -> u64 {
    value.round().clamp(0.0, u64::MAX as f64) as u64
}

pub(crate) fn types(draft: &Draft) -> BTreeMap<String, TypeStats> {
    let mut types = BTreeMap::new();
    for figure in &draft.figures {
        let of = figure.of.as_str();
        if of.is_empty()
            || NO_TYPES.contains(&of)
            || of.starts_with("client ")
            || of.starts_with(WINDOW)
            || is_query(draft, of)
            || types.contains_key(of)
        {
            continue;
        }
        let count = draft.figures.iter().rev().find(|f| {
            matches!(&*f.name, "count" | "samples" | "in_time" | "completed") && f.of == of
        });
        let Some(count) = count else { continue };
        // tpcc-mysql counts what came later than its limits apart.
        let late = draft.figures.iter().rev();
        let late = late.filter(|_| count.name == "in_time");
        let late = late
            .filter(|f| f.of == of && f.name == "late")
            .map(|f| f.value)
            .next();
        types.insert(
            of.to_string(),
            TypeStats {
                count: natural(count.value + late.unwrap_or(0.0)),
                quantiles: Some(quantiles(&draft.figures, of)),
                ..TypeStats::default()
            },
        );
    }
    types
}

/// Those of all transactions: of the run, or of the type that stands for all others.
fn whole_quantiles(figures: &[StatedFigure]) -> Quantiles {
    let (own, total) = (quantiles(figures, ""), quantiles(figures, "TOTAL"));
    Quantiles {
        mean_ms: own.mean_ms.or(total.mean_ms),
        min_ms: own.min_ms.or(total.min_ms),
        max_ms: own.max_ms.or(total.max_ms),
        percentiles_ms: match own.percentiles_ms.is_empty() {
            true => total.percentiles_ms,
            false => own.percentiles_ms,
        },
    }
}

fn quantiles(figures: &[StatedFigure], of: &str) -> Quantiles {
    let mut all = Quantiles::default();
    for figure in figures.iter().filter(|f| f.of == of) {
        let Some(name) = figure.name.strip_suffix("_ms") else {
            continue;
        };
        match name {
            "mean" => all.mean_ms = Some(figure.value),
            "min" => all.min_ms = Some(figure.value),
            "max" => all.max_ms = Some(figure.value),
            _ => {
                if let Some(percent) = name.strip_prefix('p').filter(|p| p.parse::<f64>().is_ok()) {
                    all.percentiles_ms.insert(percent.into(), figure.value);
                }
            }
        }
    }
    all
}

fn intervals(draft: &Draft, workload: &str) -> Vec<Interval> {
    // Lines of one type each are no intervals of the run.
    let all = draft
        .intervals
        .iter()
        .filter(|i| !i.cumulative && (i.of.is_empty() || draft.tool == "tpcc-mysql"));
    let name = match draft.tool {
        "tpcc-mysql" => "NewOrder",
        _ if workload.is_empty() => "transaction",
        _ => "transaction",
    };
    let asked = draft.options.get("percentile").map(|o| o.value.clone());
    let percent = draft.percent.map(|percent| percent.to_string());
    let percent = percent.or(asked).unwrap_or_else(|| "95".into());
    let mut made = Vec::new();
    for i in all {
        let length = i.length_s.unwrap_or_default();
        if length.is_nan() || length <= 0.0 {
            continue;
        }
        let times = |rate: Option<f64>| rate.map_or(0, |r| natural(r * length));
        let mut quantiles = Quantiles {
            mean_ms: i.mean_ms,
            ..Quantiles::default()
        };
        if let Some(ms) = i.percentile_ms {
            quantiles.percentiles_ms.insert(percent.clone(), ms);
        }
        let stats = TypeStats {
            count: i.count.map_or_else(|| times(i.rate), natural),
            quantiles: Some(quantiles),
            ..TypeStats::default()
        };
        made.push(Interval {
            start_ms: ((i.end_s - length).max(0.0) * 1000.0) as i64,
            length_ms: length * 1000.0,
            phase: Phase::Measure,
            sessions: i.sessions.map_or(0, natural),
            statements: StatementCounts {
                read: times(i.read_rate),
                write: times(i.write_rate),
                other: times(i.other_rate),
                noop_writes: 0,
                round_trips: 0,
            },
            ignored_errors: times(i.error_rate),
            reconnects: times(i.reconnect_rate),
            types: BTreeMap::from([(name.to_string(), stats)]),
            ..Interval::default()
        });
    }
    made
}

/// The name that reports know a workload by.
fn workload(draft: &Draft) -> String {
    let tpcc = draft
        .figures
        .iter()
        .any(|f| f.of == "NewOrder" && f.name == "count");
    let stated = draft.workload.trim();
    let standard = Tool::named(draft.tool).standard_workloads;
    match (draft.tool, stated) {
        ("go-tpc", "tpch") | (_, "tpch") => "tpch".into(),
        ("table", "") => "table".into(),
        ("table", name) => name.into(),
        (_, "tpcc") if !tpcc => "TPC-C".into(),
        (_, "tpcc") => "tpcc".into(),
        (tool, name) => match (standard, name.strip_prefix("workload")) {
            (Some(standard), Some(letter)) => format!("{standard}-{letter}"),
            (Some(standard), None) if name.is_empty() => format!("{standard}-core"),
            (None, _) if name.is_empty() => tool.into(),
            _ => name.into(),
        },
    }
}

fn options(draft: &Draft) -> BTreeMap<String, EffectiveOption> {
    let of = |(name, stated): (&String, &crate::draft::Stated)| {
        let option = EffectiveOption {
            value: stated.value.clone(),
            source: match stated.from {
                From::Config => Source::ConfigFile,
                From::Command => Source::CommandLine,
                From::Output => Source::Output,
            },
        };
        (name.clone(), option)
    };
    draft
        .options
        .iter()
        .filter(|(n, _)| !n.starts_with("column "))
        .map(of)
        .collect()
}

/// Arrivals a second that were asked for.
fn rate(draft: &Draft) -> Option<f64> {
    let name = Tool::named(draft.tool).rate_option;
    draft.option_number(name).filter(|r| *r > 0.0)
}

/// The same figures make the same id, so that what is imported twice is noticed.
fn id(draft: &Draft, at: u32) -> String {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    add(draft.tool);
    add(&draft.workload);
    add(draft.client.as_deref().unwrap_or_default());
    for figure in &draft.figures {
        add(&figure.of);
        add(&figure.name);
        add(&figure.value.to_string());
    }
    for (name, stated) in &draft.options {
        add(name);
        add(&stated.value);
    }
    for i in &draft.intervals {
        add(&format!("{} {:?} {:?}", i.end_s, i.rate, i.count));
    }
    for (name, took, _) in &draft.queries {
        add(&format!("{name} {took}"));
    }
    let sum: Vec<String> = hash.finalize().iter().map(|b| format!("{b:02x}")).collect();
    let sum = sum.concat();
    // Shaped as every id is; the place in its document keeps runs in order.
    let part = |from: usize, to: usize| sum.get(from..to).unwrap_or("0");
    format!(
        "0000{:04x}-{}-8{}-8{}-{}",
        at & 0xffff,
        part(0, 4),
        part(4, 7),
        part(7, 10),
        part(10, 22)
    )
}
