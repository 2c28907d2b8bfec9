//! What sysbench has no words for, for after its summary: schedules, terminals, distance, outages,
//! hosts, steps and searches.
//!
//! No line has a name that sysbench's summary has, so that who searches for those finds its own.

use crate::load::{Found, Lateness, LoadKind, Spread, StepFigures, max_connections, option, steps};
use crate::merge::{TypeLatency, per_second};
use crate::number::{seconds, three, whole};
use crate::{OutsideOutages, ReportError};
use std::fmt::Write;
use tidemark_core::record::{HostRole, RunRecord, Step, StepPurpose};

/// These lines; empty for a run that sysbench could have made. `outside` counts the intervals,
/// which the record need not hold.
///
/// # Errors
/// [`ReportError::Histogram`].
pub fn beyond(record: &RunRecord, outside: &OutsideOutages) -> Result<String, ReportError> {
    let all = TypeLatency::decode(&record.totals.all, "the whole run")?;
    let kind = LoadKind::of(record);
    let steps = steps(record)?;
    let mut text = Text::default();
    text.0.push_str(&fewer_sessions(record));
    if kind.is_open_loop() {
        text.schedule(record, kind, &all)?;
    } else if all.wait.is_some() {
        text.terminals(record, &all);
    }
    if record.inject_rtt_ms > 0.0 {
        text.head("Distance");
        text.pair(
            "injected round trip (ms)",
            &format!("{:.2}", record.inject_rtt_ms),
        );
    }
    text.outages(record, outside);
    text.hosts(record);
    text.steps(&steps);
    if kind == LoadKind::Search {
        text.found(record, &steps);
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
        let limit = max_connections(record)
            .map(|n| format!(" (the server's max_connections is {n})"))
            .unwrap_or_default();
        text.warning(&format!(
            "asked for {} sessions, {} could be opened{limit}: the figures are of {} sessions",
            whole(record.sessions as u64),
            whole(opened as u64),
            whole(opened as u64)
        ));
    }
    text.0
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
            if v.kept { "kept" } else { "not kept" },
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
        self.head(match kind {
            LoadKind::Search => "Open loop, at the rate confirmed",
            _ => "Open loop",
        });
        let rate = match kind {
            LoadKind::Open(rate) => Some(rate),
            LoadKind::Search => Found::of(record).rate(),
            _ => None,
        };
        if let Some(rate) = rate {
            self.pair("arrivals asked", &format!("{rate:.2} per sec."));
        }
        if let Some(how) = option(record, "arrivals") {
            self.pair("arrivals spaced", how);
        }
        let ended = per_second(all.count, totals.elapsed_s);
        self.pair("arrivals served", &format!("{ended:.2} per sec."));
        let count = |n: u64| {
            let of = all.count + totals.dropped_arrivals;
            format!("{n:<6} ({:.2}%)", n as f64 * 100.0 / of.max(1) as f64)
        };
        self.pair("delayed, no session free", &count(totals.delayed_arrivals));
        self.pair("dropped, backlog full", &count(totals.dropped_arrivals));
        if let Some(wait) = all.wait.as_ref().and_then(Spread::of) {
            self.spread("waits for a session", &wait);
        }
        self.service(all);
        let lateness = Lateness::of(totals, all)?;
        if let Some(late) = &lateness {
            self.spread("generator's lateness", &late.spread);
        }
        if totals.dropped_arrivals > 0 {
            let bound = option(record, "max-backlog")
                .map(|n| format!(" of {n} (--max-backlog)"))
                .unwrap_or_default();
            self.warning(&format!(
                "the backlog reached its bound{bound}: {} arrivals were dropped and are in no \
                 latency",
                totals.dropped_arrivals
            ));
        }
        if lateness.is_some_and(|l| l.matters) {
            self.warning(
                "the generator itself was late: the response times are in part its own; use fewer \
                 sessions, more --executors or another client machine",
            );
        }
        Ok(())
    }

    /// The database's part of the response times.
    fn service(&mut self, all: &TypeLatency) {
        if all.response.is_some()
            && let Some(service) = Spread::of(&all.service)
        {
            self.spread("database's time", &service);
        }
    }

    fn terminals(&mut self, record: &RunRecord, all: &TypeLatency) {
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
            self.spread("waits for a session", &wait);
        }
        self.service(all);
    }

    fn outages(&mut self, record: &RunRecord, outside: &OutsideOutages) {
        if record.outages.is_empty() {
            return;
        }
        self.head("Outages");
        let head = ["host", "from (s)", "for (s)", "over", "first error"];
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
            "a host was away",
            &format!(
                "{:.2} s of {:.2} s",
                record.totals.outage_s, record.totals.elapsed_s
            ),
        );
        if let Some(rate) = outside.per_second() {
            self.pair("throughput outside of that", &format!("{rate:.2} per sec."));
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
            "dropped", "kept",
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
                verdict.push_str("generator late");
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
                verdict,
            ]);
        }
        if rows.iter().skip(1).all(|row| row[8].is_empty()) {
            rows.iter_mut().for_each(|row| row.truncate(8));
            // The last column is text.
            rows.iter_mut().for_each(|row| row.push(String::new()));
        }
        self.table(&rows);
    }

    fn found(&mut self, record: &RunRecord, steps: &[StepFigures<'_>]) {
        let objective = option(record, "find-max").unwrap_or("the objective");
        let because = |step: &Step| {
            let verdict = step.verdict.as_ref();
            verdict.map_or(String::new(), |v| format!(": {}", v.because))
        };
        let held = |step: &Step| seconds(step.totals.elapsed_s);
        self.0.push('\n');
        match Found::of(record) {
            Found::Confirmed(step) => self.line(&format!(
                "Highest rate that keeps {objective}: {}/s, confirmed over {} s{}",
                rate_words(step.rate),
                held(step),
                because(step)
            )),
            Found::Refuted(step) => self.warning(&format!(
                "no rate that keeps {objective} was confirmed: {}/s did not keep it over {} s{}",
                rate_words(step.rate),
                held(step),
                because(step)
            )),
            Found::Unconfirmed(step) => self.warning(&format!(
                "{}/s kept {objective} over {} s, and the run ended before that was confirmed{}",
                rate_words(step.rate),
                held(step),
                because(step)
            )),
            Found::None(Some(step)) => self.warning(&format!(
                "no rate kept {objective}; the lowest tried was {}/s{}",
                rate_words(step.rate),
                because(step)
            )),
            Found::None(None) => self.warning("the search ended before a rate was tried"),
        }
        if steps.iter().any(|s| s.late) {
            self.warning("the generator itself was late at some rates: see the steps");
        }
    }
}
