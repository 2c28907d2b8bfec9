//! What sysbench has no words for, for after its summary: schedules, terminals, distance, outages,
//! hosts, steps and searches.
//!
//! No line has a name that sysbench's summary has, so that who searches for those finds its own.

use crate::ReportError;
use crate::load::{
    DueArrivals, FiguresOf, Lateness, LoadKind, SearchOutcome, ServiceSplit, Spread, StepFigures,
    option, outside_outages, steps,
};
use crate::merge::{TypeLatency, per_second};
use crate::number::{percent, seconds, three, whole};
use std::fmt::Write;
use tidemark_core::record::{ErrorCount, HostRole, RunRecord, Step, StepPurpose};

/// These lines; empty for a run that sysbench could have made. The record need not hold its
/// intervals.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn beyond(record: &RunRecord) -> Result<String, ReportError> {
    let all = TypeLatency::decode(&record.totals.all, "the whole run")?;
    let kind = LoadKind::of(record);
    let steps = steps(record)?;
    let mut text = Text::default();
    text.0.push_str(&fewer_sessions(record));
    if kind.is_open_loop() {
        text.schedule(record, kind, &all)?;
    } else if all.wait.is_some() {
        text.terminals(record, &all)?;
    }
    if record.inject_rtt_ms > 0.0 {
        text.head("Distance");
        text.pair(
            "injected network latency (ms)",
            &format!("{:.2}", record.inject_rtt_ms),
        );
    }
    text.outages(record, kind);
    text.hosts(record);
    text.steps(&steps);
    if kind == LoadKind::Search {
        text.0.push('\n');
        match not_found(record) {
            Some(why) => text.warning(&why),
            None => text.found(record),
        }
        if steps.iter().any(|s| s.late) {
            text.warning("the client started transactions late at some rates; see the steps");
        }
    }
    if !text.0.is_empty() {
        text.0.push('\n');
    }
    Ok(text.0)
}

/// The line for a run that got fewer sessions than it asked for; empty for any other.
pub fn fewer_sessions(record: &RunRecord) -> String {
    let mut text = Text::default();
    if let Some(opened) = record.sessions_opened.filter(|n| *n < record.sessions) {
        let why = record.fewer_sessions_because.as_ref();
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        text.warning(&format!(
            "{} sessions requested, {} opened{why}; the results are for {} sessions",
            whole(record.sessions as u64),
            whole(opened as u64),
            whole(opened as u64)
        ));
    }
    text.0
}

/// Why a search has no result that can be relied on, in a sentence; `None` when it has one, and for
/// a run that is no search.
pub fn not_found(record: &RunRecord) -> Option<String> {
    if LoadKind::of(record) != LoadKind::Search {
        return None;
    }
    let objective = objective(record);
    let held = |step: &Step| seconds(step.totals.elapsed_s);
    match SearchOutcome::of(record) {
        SearchOutcome::Confirmed(_) => None,
        SearchOutcome::Refuted(step) => Some(format!(
            "no rate that meets {objective} was confirmed: {}/s missed it over {} s{}",
            rate_words(step.rate),
            held(step),
            because(step)
        )),
        SearchOutcome::Unconfirmed(step) => Some(format!(
            "{}/s met {objective} over {} s, but the run ended before confirmation{}",
            rate_words(step.rate),
            held(step),
            because(step)
        )),
        SearchOutcome::None(Some(step)) => Some(format!(
            "no rate met {objective}; the lowest tried was {}/s{}",
            rate_words(step.rate),
            because(step)
        )),
        SearchOutcome::None(None) if record.steps.is_empty() => {
            Some("the search ended before any rate was tried".into())
        }
        SearchOutcome::None(None) => {
            Some("the search ended after its probe; no rate was measured completely".into())
        }
    }
}

fn objective(record: &RunRecord) -> &str {
    option(record, "find-max").unwrap_or("the objective")
}

fn because(step: &Step) -> String {
    let verdict = step.verdict.as_ref();
    verdict.map_or(String::new(), |v| format!(": {}", v.because))
}

/// A line for a rate that was held, for while a run goes on.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn step(step: &Step) -> Result<String, ReportError> {
    let figures = StepFigures::of(step, "a step")?;
    let mut line = match step.rate {
        Some(rate) => format!("{}: {rate:.2} asked/s", purpose(step.purpose)),
        None => format!("{}: no schedule", purpose(step.purpose)),
    };
    // Writing to a String cannot fail.
    let _ = write!(line, ", {:.2} served/s", figures.achieved);
    if let Some(l) = &figures.latency {
        let _ = write!(
            line,
            ", p50 {:.2}, p95 {:.2}, p99 {:.2} ms",
            l.p50_ms, l.p95_ms, l.p99_ms
        );
    }
    if let Some(v) = &step.verdict {
        let _ = write!(
            line,
            "; {}: {}",
            if v.kept { "met" } else { "missed" },
            v.because
        );
    }
    let mut text = Text::default();
    text.line(&line);
    Ok(text.0)
}

fn purpose(purpose: StepPurpose) -> &'static str {
    match purpose {
        StepPurpose::Asked => "step",
        StepPurpose::Probe => "probe",
        StepPurpose::Climb => "climb",
        StepPurpose::Bisect => "bisect",
        StepPurpose::Confirm => "confirm",
    }
}

/// A rate as it stands in a sentence: `12,400`, `12.5`.
fn rate_words(rate: Option<f64>) -> String {
    rate.map_or("-".into(), three)
}

/// A table's lines: the first column to the left, the others to the right.
fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|c| c.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    rows.iter()
        .map(|row| {
            let mut line = String::from("    ");
            for (n, (cell, width)) in row.iter().zip(&widths).enumerate() {
                // Writing to a String cannot fail.
                let _ = match n {
                    0 => write!(line, "{cell:<width$}"),
                    // What is said in the last column is text.
                    n if n + 1 == count => write!(line, "  {cell}"),
                    _ => write!(line, "  {cell:>width$}"),
                };
            }
            line.trim_end().to_string()
        })
        .collect()
}

#[derive(Default)]
struct Text(String);

impl Text {
    /// What comes from outside must not look like lines of ours, nor change a terminal.
    fn line(&mut self, line: &str) {
        let clean = line.chars().map(|c| if c.is_control() { ' ' } else { c });
        self.0.extend(clean);
        self.0.push('\n');
    }

    fn head(&mut self, head: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.line(&format!("{head}:"));
    }

    fn pair(&mut self, name: &str, value: &str) {
        self.line(&format!("    {:<37}{value}", format!("{name}:")));
    }

    fn warning(&mut self, text: &str) {
        self.line(&format!("WARNING: {text}"));
    }

    fn table(&mut self, rows: &[Vec<String>]) {
        columns(rows).iter().for_each(|line| self.line(line));
    }

    fn spread(&mut self, name: &str, s: &Spread) {
        self.pair(
            &format!("{name} (ms)"),
            &format!(
                "mean {:.2}, p50 {:.2}, p95 {:.2}, p99 {:.2}, longest {:.2}",
                s.mean_ms, s.p50_ms, s.p95_ms, s.p99_ms, s.max_ms
            ),
        );
    }

    fn schedule(
        &mut self,
        record: &RunRecord,
        kind: LoadKind,
        all: &TypeLatency,
    ) -> Result<(), ReportError> {
        let totals = &record.totals;
        let (head, rate) = match kind {
            LoadKind::Open(rate) => ("Open loop", Some(rate)),
            LoadKind::Search => match SearchOutcome::figures(record) {
                (FiguresOf::Confirmation, rate) => ("Open loop, at the confirmed rate", rate),
                (FiguresOf::LastTried, rate) => ("Open loop, at the last rate tried", rate),
                (FiguresOf::Nothing, _) => ("Open loop", None),
            },
            _ => ("Open loop", None),
        };
        self.head(head);
        if let Some(rate) = rate {
            self.pair("arrivals asked", &format!("{rate:.2} per sec."));
        }
        if let Some(how) = option(record, "arrivals") {
            self.pair("arrival spacing", how);
        }
        let ended = per_second(all.count, totals.elapsed_s);
        self.pair("arrivals served", &format!("{ended:.2} per sec."));
        let due = DueArrivals::of(totals, all.count);
        let count = |n: u64| format!("{n:<6} ({:.2}%)", n as f64 * 100.0 / due.all.max(1) as f64);
        self.pair("delayed, no session free", &count(due.delayed));
        let skip_late = DueArrivals::skip_late_ms(record);
        let dropped = match skip_late {
            None => "dropped, backlog full",
            Some(_) => "skipped, too late",
        };
        self.pair(dropped, &count(due.dropped));
        self.pair("still waiting at the end", &count(due.unserved));
        if let Some(wait) = all.wait.as_ref().and_then(Spread::of) {
            self.spread("waiting for a session", &wait);
        }
        self.service(all);
        let late = self.lateness(record, all)?;
        if let (Some(limit), 1..) = (skip_late, totals.dropped_arrivals) {
            self.warning(&format!(
                "{} arrivals were more than {limit} ms late and were skipped; no latency includes them",
                totals.dropped_arrivals
            ));
        } else if totals.dropped_arrivals > 0 {
            let bound = option(record, "max-backlog")
                .map(|n| format!(" of {n} (--max-backlog)"))
                .unwrap_or_default();
            self.warning(&format!(
                "the backlog reached its limit{bound}: {} arrivals were dropped; no latency \
                 includes them",
                totals.dropped_arrivals
            ));
        }
        if due.too_many_unserved() {
            self.warning(&format!(
                "{} arrivals ({}) were due but not served at the end; no latency includes them: \
                 the load exceeded what these sessions could process",
                whole(due.unserved),
                percent(due.unserved as f64, due.all as f64)
            ));
        }
        self.warn_late(late);
        Ok(())
    }

    /// The generator's own lateness; whether it matters is returned.
    fn lateness(&mut self, record: &RunRecord, all: &TypeLatency) -> Result<bool, ReportError> {
        let late = Lateness::of(&record.totals, all)?;
        if let Some(late) = &late {
            self.spread("scheduling delay", &late.spread);
        }
        Ok(late.is_some_and(|l| l.matters))
    }

    fn warn_late(&mut self, late: bool) {
        if late {
            self.warning(
                "the client started transactions late: response times include the client's own \
                 delay; use fewer sessions, more --executors or another client host",
            );
        }
    }

    /// What of the response times passed once a session had begun, and where.
    fn service(&mut self, all: &TypeLatency) {
        if all.response.is_some()
            && let Some(service) = Spread::of(&all.service)
        {
            self.spread("service time", &service);
            if let Some(split) = ServiceSplit::of(all) {
                self.spread("server and network", &split.server);
            }
        }
    }

    fn terminals(&mut self, record: &RunRecord, all: &TypeLatency) -> Result<(), ReportError> {
        self.head("Terminals");
        let sessions = record.sessions_opened.unwrap_or(record.sessions);
        let terminals = record.terminals.unwrap_or(record.sessions);
        self.pair(
            "terminals on sessions",
            &format!("{terminals} on {sessions}"),
        );
        if let Some(think) = option(record, "think-time") {
            self.pair("think time", think);
        }
        if let Some(wait) = all.wait.as_ref().and_then(Spread::of) {
            self.spread("waiting for a session", &wait);
        }
        self.service(all);
        let late = self.lateness(record, all)?;
        self.warn_late(late);
        Ok(())
    }

    fn outages(&mut self, record: &RunRecord, kind: LoadKind) {
        if record.outages.is_empty() {
            return;
        }
        self.head("Outages");
        let head = ["host", "from (s)", "for (s)", "ended", "first error"];
        let mut rows = vec![head.map(String::from).to_vec()];
        for o in &record.outages {
            rows.push(vec![
                o.host.clone(),
                format!("{:.2}", o.start_ms as f64 / 1000.0),
                format!("{:.2}", o.length_ms / 1000.0),
                if o.ended { "yes" } else { "no" }.into(),
                o.first_error.clone(),
            ]);
        }
        self.table(&rows);
        self.pair(
            "a host was unreachable",
            &format!(
                "{:.2} s of {:.2} s",
                record.totals.outage_s, record.totals.elapsed_s
            ),
        );
        if let Some(rate) = outside_outages(&record.totals) {
            let caught_up = if kind.is_open_loop() {
                " (including the backlog processed afterwards)"
            } else {
                ""
            };
            self.pair(
                "throughput outside of that",
                &format!("{rate:.2} per sec.{caught_up}"),
            );
        }
    }

    /// Only where there is a choice of hosts.
    fn hosts(&mut self, record: &RunRecord) {
        let hosts = &record.totals.hosts;
        if hosts.len() < 2 {
            return;
        }
        self.head("Hosts");
        let head = ["host", "role", "sessions", "statements", "share"];
        let mut rows = vec![head.map(String::from).to_vec()];
        let all: u64 = hosts.iter().map(|h| h.statements).sum();
        for h in hosts {
            rows.push(vec![
                h.host.clone(),
                match h.role {
                    HostRole::Any => "any",
                    HostRole::Read => "read",
                }
                .into(),
                h.sessions.to_string(),
                h.statements.to_string(),
                format!("{:.2}%", h.statements as f64 * 100.0 / all.max(1) as f64),
            ]);
        }
        self.table(&rows);
    }

    fn steps(&mut self, steps: &[StepFigures<'_>]) {
        if steps.is_empty() {
            return;
        }
        self.head("Steps");
        let head = [
            "what", "asked/s", "served/s", "p50 (ms)", "p95 (ms)", "p99 (ms)", "delayed",
            "dropped", "unserved", "met",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        for s in steps {
            let ms = |of: fn(&Spread) -> f64| match &s.latency {
                Some(spread) => format!("{:.2}", of(spread)),
                None => "-".into(),
            };
            let mut verdict = match &s.step.verdict {
                Some(v) if v.kept => format!("yes, {}", v.because),
                Some(v) => format!("no, {}", v.because),
                None => String::new(),
            };
            if s.late {
                let joint = if verdict.is_empty() { "" } else { "; " };
                verdict.push_str(joint);
                verdict.push_str("client late");
            }
            rows.push(vec![
                purpose(s.step.purpose).into(),
                s.step.rate.map_or("-".into(), |r| format!("{r:.2}")),
                format!("{:.2}", s.achieved),
                ms(|l| l.p50_ms),
                ms(|l| l.p95_ms),
                ms(|l| l.p99_ms),
                s.step.totals.delayed_arrivals.to_string(),
                s.step.totals.dropped_arrivals.to_string(),
                s.step.totals.unserved_arrivals.to_string(),
                verdict,
            ]);
        }
        if rows.iter().skip(1).all(|row| row[9].is_empty()) {
            rows.iter_mut().for_each(|row| row.truncate(9));
            // The last column is text.
            rows.iter_mut().for_each(|row| row.push(String::new()));
        }
        self.table(&rows);
    }

    fn found(&mut self, record: &RunRecord) {
        if let SearchOutcome::Confirmed(step) = SearchOutcome::of(record) {
            self.line(&format!(
                "Highest rate that meets {}: {}/s, confirmed over {} s{}",
                objective(record),
                rate_words(step.rate),
                seconds(step.totals.elapsed_s),
                because(step)
            ));
        }
    }
}

/// Errors by code, for after the summary; empty when there were none. sysbench only counts those it
/// ignores, and tells neither which nor why.
pub fn errors(errors: &[ErrorCount]) -> String {
    let mut text = String::new();
    if errors.is_empty() {
        return text;
    }
    text += "Errors:\n";
    for e in errors {
        let name = format!("{} ({}):", e.code, e.class);
        let first = one_line(&e.first_message);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "    {name:<36} {:<6} {first}", e.count);
    }
    text.push('\n');
    text
}

/// A message as one line: what a server sends must not look like lines of ours.
fn one_line(message: &str) -> String {
    message
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
