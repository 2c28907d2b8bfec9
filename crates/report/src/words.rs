//! Sentences about a run, the same in every form of report.

use crate::digest::{Digest, states_errors};
use crate::family::Family;
use crate::load::LoadKind;
use crate::load_words::has_unknown_rate;
use crate::machine;
use crate::number::{bytes, percent, three, whole};
use crate::texts::{Texts, fill};
use tidemark_core::record::{LatencyEnd, RateUnit, RunState, TableState};
use tidemark_core::{ErrorClass, Source};

pub(crate) struct Words<'a> {
    pub d: &'a Digest<'a>,
    pub t: &'static Texts,
}

impl Words<'_> {
    pub fn server(&self) -> String {
        match &self.d.record.server {
            Some(s) => format!("{} {}", s.engine, s.version),
            None if self.d.record.is_of_machine() => self.t.this_machine.into(),
            None => self.t.unknown_server.into(),
        }
    }

    pub fn title(&self) -> String {
        if self.is_watch() {
            return self.watch_title();
        }
        let record = self.d.record;
        if record.imported.is_some() && record.server.is_none() {
            let values = [("workload", &*record.workload), ("target", &*record.target)];
            return fill(self.t.title_imported, &values);
        }
        fill(
            self.t.title,
            &[
                ("workload", &self.d.record.workload),
                ("server", &self.server()),
            ],
        )
    }

    /// The result in one sentence: its template and the values in it, so that a page can make the
    /// values stand out.
    pub fn headline_parts(&self) -> (&'static str, Vec<(&'static str, String)>) {
        if self.is_watch() {
            return self.watch_headline();
        }
        let family = Family::of(&self.d.record.workload);
        if let Some(said) = family.and_then(|f| (f.headline)(self.d.record, self.t)) {
            return said;
        }
        if self.d.transactions_per_s().is_nan() {
            return (self.t.headline_unstated, Vec::new());
        }
        if let Some(tpmc) = self.stated_tpmc() {
            let values = [tpmc, self.d.transactions_per_s()].map(three);
            return (
                self.t.headline_tpmc,
                ["tpmc", "tps"].into_iter().zip(values).collect(),
            );
        }
        let p95 = self.d.percentile_ms(95.0);
        let stated = self.d.record.stated_rate().filter(|rate| *rate > 0.0);
        if p95.is_none() && self.d.all.quantiles.is_none() && stated.is_none() {
            return (self.t.headline_none, Vec::new());
        }
        if p95.is_none() && self.d.record.imported.is_some() {
            let mean = self.d.all.mean_ms();
            let tps = three(self.d.transactions_per_s());
            let mut values = vec![("tps", tps)];
            values.extend(mean.map(|ms| ("mean", three(ms))));
            let with_mean = mean.map_or(self.t.headline_rate, |_| self.t.headline_mean);
            return (with_mean, values);
        }
        let ms = |known: Option<f64>| known.map_or("–".into(), three);
        let is_other = self.d.record.rate_unit() != RateUnit::Transactions;
        let template = match (self.d.kind.is_open_loop(), &self.d.all.response) {
            _ if is_other => self.t.headline_stated,
            (true, _) => self.t.headline_open,
            (false, Some(_)) => self.t.headline_due,
            (false, None) => self.t.headline_closed,
        };
        (
            template,
            vec![
                ("tps", three(self.d.transactions_per_s())),
                ("mean", ms(self.d.all.mean_ms())),
                ("p95", ms(p95)),
            ],
        )
    }

    /// What TPC-C is measured in, where a document states it beside all transactions.
    fn stated_tpmc(&self) -> Option<f64> {
        let record = self.d.record;
        let imported = record.imported.as_ref();
        let imported = imported.filter(|_| record.rate_unit() == RateUnit::Transactions)?;
        imported.figure("tpmc").map(|stated| stated.value)
    }

    /// What was run, and what went wrong, a sentence each.
    pub fn how_sentences(&self) -> Vec<String> {
        if self.is_watch() {
            return vec![self.watch_says()];
        }
        let t = self.t;
        let elapsed = t.duration(self.d.totals.elapsed_s);
        let mut sentences: Vec<String> = self.found().into_iter().chain(self.away()).collect();
        let record = self.d.record;
        // A table does not say how its load waited.
        let says_load = record
            .imported
            .as_ref()
            .is_none_or(|i| i.tool != "table" && record.sessions > 0);
        if record.queries.is_empty() && says_load {
            sentences.extend(self.how_load());
        }
        sentences.push(if !self.states_duration() {
            String::new()
        } else if self.d.warmup_s > 0.0 {
            let warmup = t.duration(self.d.warmup_s);
            fill(
                t.how_long_warm,
                &[("elapsed", &elapsed), ("warmup", &warmup)],
            )
        } else {
            fill(t.how_long, &[("elapsed", &elapsed)])
        });
        sentences.push(self.errors());
        sentences.extend(self.tables());
        sentences.retain(|s| !s.is_empty());
        sentences
    }

    /// Whether a record says how long it was; another tool may not have stated it.
    fn states_duration(&self) -> bool {
        let record = self.d.record;
        record.imported.as_ref().is_none_or(|imported| {
            imported.figures.iter().any(|f| f.name == "elapsed_s")
                || !imported.intervals.is_empty()
                || record.options.contains_key("time")
        })
    }

    fn errors(&self) -> String {
        let totals = &self.d.totals;
        if totals.ignored_errors == 0 && !states_errors(self.d.record) {
            return String::new();
        }
        if totals.ignored_errors == 0 && totals.reconnects == 0 {
            // An error that ended the run is told where its state is.
            let failed = matches!(self.d.record.state, RunState::Failed(_));
            return if failed { "" } else { self.t.no_errors }.into();
        }
        if totals.ignored_errors > 0 && self.attempts().is_none() {
            let errors = whole(totals.ignored_errors);
            return fill(self.t.errors_alone, &[("errors", &errors)]);
        }
        let attempts = self.attempts().unwrap_or_default();
        fill(
            self.t.some_errors,
            &[
                ("errors", &whole(totals.ignored_errors)),
                ("share", &percent(totals.ignored_errors as f64, attempts)),
                ("reconnects", &whole(totals.reconnects)),
            ],
        )
    }

    /// Transactions that succeeded and that failed. `None` where a document states neither how many
    /// succeeded, nor their rate and the time.
    fn attempts(&self) -> Option<f64> {
        let record = self.d.record;
        let count = self.d.all.count;
        let is_counted = record.imported.as_ref().is_none_or(|imported| {
            count > 0
                || imported
                    .figure("count")
                    .or(imported.figure("events"))
                    .is_some()
        });
        let is_timed = record.rate_unit() == RateUnit::Transactions && self.states_duration();
        let succeeded = match is_counted {
            true => count as f64,
            false => record.stated_rate().filter(|_| is_timed)? * self.d.totals.elapsed_s,
        };
        Some(succeeded + self.d.totals.ignored_errors as f64)
    }

    fn tables(&self) -> Option<String> {
        let after = &self.d.record.tables_after;
        if after.is_empty() || after.iter().all(|t| t.expected_rows.is_none()) {
            return None;
        }
        let wrong = after.iter().filter(|t| rows_differ(t)).count();
        let tables = whole(after.len() as u64);
        Some(if wrong == 0 {
            let rows = whole(after.iter().map(|t| t.rows).sum());
            fill(
                self.t.tables_as_expected,
                &[("tables", &tables), ("rows", &rows)],
            )
        } else {
            fill(
                self.t.tables_otherwise,
                &[("wrong", &whole(wrong as u64)), ("tables", &tables)],
            )
        })
    }

    /// What must be known before the figures are used.
    pub fn warnings(&self) -> Vec<String> {
        if self.is_watch() {
            return self.watch_warning().into_iter().collect();
        }
        let elapsed = self.t.duration(self.d.totals.elapsed_s);
        let state = match &self.d.record.state {
            RunState::Finished => None,
            RunState::Interrupted if self.d.record.imported.is_some() => {
                Some(self.t.output_cut.into())
            }
            RunState::Interrupted => Some(fill(self.t.interrupted, &[("elapsed", &elapsed)])),
            RunState::Failed(reason) => Some(fill(self.t.failed, &[("reason", reason)])),
            RunState::Running => {
                let intervals = whole(self.d.record.intervals.len() as u64);
                Some(fill(self.t.no_end, &[("intervals", &intervals)]))
            }
        };
        state.into_iter().chain(self.load_warnings()).collect()
    }

    pub fn state(&self) -> &'static str {
        match self.d.record.state {
            RunState::Running => self.t.state_running,
            RunState::Finished => self.t.state_finished,
            RunState::Interrupted if self.d.record.imported.is_some() => self.t.state_output_cut,
            RunState::Interrupted => self.t.state_interrupted,
            RunState::Failed(_) => self.t.state_failed,
        }
    }

    /// Which latency this is about; nothing without key figures.
    pub fn latency_kind(&self) -> String {
        if !self.d.record.queries.is_empty() {
            return String::new();
        }
        // What another tool's latency holds is not known.
        if self.d.record.imported.is_some() {
            return String::new();
        }
        let kind = match (self.d.kind.is_open_loop(), &self.d.all.response) {
            (true, Some(_)) => self.t.response_time,
            (false, Some(_)) => self.t.response_time_due,
            (_, None) => self.t.service_time,
        };
        match self.d.record.latency_end {
            LatencyEnd::Session => kind.into(),
            LatencyEnd::Arrival => self.t.latency_ends_at_arrival.into(),
        }
    }

    /// Names and values of the key figures; none of a watch, and of queries that were asked once each,
    /// which have figures of their own.
    pub fn key_figures(&self) -> Vec<(String, String)> {
        let (d, t) = (self.d, self.t);
        if self.is_watch() || !d.record.queries.is_empty() {
            return Vec::new();
        }
        let ms = |p| {
            d.percentile_ms(p)
                .map_or("–".into(), |ms| format!("{} ms", three(ms)))
        };
        let mean = d.all.mean_ms();
        let mean = mean.map_or("–".into(), |ms| format!("{} ms", three(ms)));
        let p = |percent: &str| fill(t.percentile, &[("percent", percent)]);
        let imported = d.record.imported.as_ref();
        let statement_rate = imported.and_then(|i| i.figure("statement_rate"));
        let is_other = d.record.rate_unit() != RateUnit::Transactions;
        let statements = match statement_rate {
            // It is the throughput.
            _ if is_other => "–".into(),
            Some(stated) => three(stated.value),
            None => three(d.statements_per_s()),
        };
        let or_none = |is_known: bool, n: u64| match is_known {
            true => whole(n),
            false => "–".into(),
        };
        let errors = or_none(states_errors(self.d.record), d.totals.ignored_errors);
        let stated = |name: &str| imported.and_then(|i| i.figure(name));
        let of_server =
            imported.is_some_and(|i| i.tool == "hammerdb" || i.figure("nopm").is_some());
        let tpm = match of_server {
            true => t.database_per_minute,
            false => t.all_per_minute,
        };
        let per_minute = [
            (t.all_per_minute, stated("tpm_total")),
            (tpm, stated("tpm")),
        ];
        let transactions = or_none(!is_other && d.all.count > 0, d.all.count);
        let transactions = match imported {
            Some(_) => transactions,
            None => whole(d.all.count),
        };
        let tpmc = self.stated_tpmc().into_iter();
        let mut figures: Vec<(String, String)> =
            tpmc.map(|n| (t.stated_tpmc.into(), three(n))).collect();
        figures.push((t.transactions_per_s.into(), three(d.transactions_per_s())));
        let per_minute = per_minute.into_iter();
        figures.extend(per_minute.filter_map(|(name, n)| Some((name.into(), three(n?.value)))));
        if !is_other && !d.record.is_of_machine() {
            figures.push((t.statements_per_s.into(), statements));
        }
        figures.extend([
            (t.transactions.into(), transactions),
            (t.errors_passed_over.into(), errors),
            (t.average.into(), mean),
            (t.median.into(), ms(50.0)),
            (p("95"), ms(95.0)),
            (p("99"), ms(99.0)),
            (t.maximum.into(), ms(100.0)),
        ]);
        figures
    }

    /// Lines of an imported run's document that were not understood.
    pub fn not_understood(&self) -> Vec<String> {
        let imported = self.d.record.imported.iter();
        let lines = imported.flat_map(|i| &i.not_understood);
        let said = lines.map(|left| {
            let last = match left.first == left.last {
                true => String::new(),
                false => format!("–{}", left.last),
            };
            let (first, colon) = (left.first, self.t.colon);
            format!("{} {first}{last}{colon}{}", self.t.lines, left.text)
        });
        said.take(50).collect()
    }

    /// Names and values of the run's own facts.
    pub fn run_facts(&self) -> Vec<(&'static str, String)> {
        if self.is_watch() {
            return self.watch_facts();
        }
        let (r, t) = (self.d.record, self.t);
        let mut facts = vec![
            (t.workload, r.workload.clone()),
            (t.sessions, whole(r.sessions as u64)),
            (t.executors, whole(r.executors as u64)),
            (
                t.rate,
                match self.d.kind {
                    LoadKind::Closed if has_unknown_rate(r) => t.rate_unknown.into(),
                    LoadKind::Closed => t.rate_none.into(),
                    LoadKind::Open(rate) => fill(t.rate_per_s, &[("rate", &three(rate))]),
                    LoadKind::Steps => t.rate_steps.into(),
                    LoadKind::Search => t.rate_search.into(),
                },
            ),
            (t.seed, r.seed.to_string()),
            (
                t.started,
                match r.is_derived("started_at") {
                    true => t.not_stated.into(),
                    false => readable_time(&r.started_at),
                },
            ),
            (
                t.measured,
                match r.is_derived("elapsed_s") {
                    true => t.not_stated.into(),
                    false => self.t.duration(self.d.totals.elapsed_s),
                },
            ),
            (t.state, self.state().into()),
        ];
        // Streams of queries have no arrivals.
        facts.retain(|(name, _)| *name != t.rate || r.queries.is_empty());
        if r.imported.is_some() {
            // What no other tool states.
            facts.retain(|(name, _)| ![t.executors, t.seed].contains(name));
            facts.retain(|(name, _)| *name != t.rate || r.rate.is_some());
            facts.retain(|(name, _)| *name != t.sessions || r.sessions > 0);
            facts.retain(|(name, _)| *name != t.measured || self.states_duration());
        }
        // What its user says of it.
        if !r.tags.is_empty() {
            facts.push((t.tags, r.tags.join(", ")));
        }
        if !r.note.is_empty() {
            facts.push((t.note, r.note.clone()));
        }
        facts
    }

    pub fn target_facts(&self) -> Vec<(&'static str, String)> {
        let (r, t) = (self.d.record, self.t);
        let mut facts = Vec::new();
        if let Some(server) = &r.server {
            facts.push((t.engine, server.engine.to_string()));
            facts.push((t.version, server.version.clone()));
        }
        facts.push((t.url, r.target.clone()));
        facts
    }

    pub fn client_facts(&self) -> Vec<(&'static str, String)> {
        let (r, t) = (self.d.record, self.t);
        let mut facts = vec![
            (t.host, r.client.hostname.clone()),
            (t.os, r.client.os.clone()),
            (t.kernel, r.client.kernel.clone()),
            (t.cpu, r.client.cpu_model.clone()),
            (t.cores, whole(r.client.cores as u64)),
            (t.memory, bytes(r.client.memory_bytes)),
        ];
        facts.extend(
            r.machine
                .iter()
                .flat_map(|figures| machine::facts(figures, t)),
        );
        let usage = &r.usage;
        let cpu_s = usage.work_s();
        // Of a test of the machine, what the client uses is what it measures.
        if cpu_s > 0.0 && !r.is_of_machine() {
            let cores = r.client.cores as f64;
            let statements = self.d.totals.statements.total();
            facts.push((
                t.client_cpu,
                fill(
                    match usage.cpu_awake_s > 0.0 {
                        true => t.client_cpu_awake,
                        false => t.client_cpu_says,
                    },
                    &[
                        ("awake", &t.duration(usage.cpu_awake_s)),
                        ("user", &t.duration(usage.cpu_user_s)),
                        ("system", &t.duration(usage.cpu_system_s)),
                        ("share", &percent(cpu_s, self.d.totals.elapsed_s * cores)),
                        ("cores", &whole(r.client.cores as u64)),
                        ("each", &three(cpu_s * 1e6 / (statements.max(1)) as f64)),
                    ],
                ),
            ));
            facts.push((t.client_memory, bytes(usage.max_resident_bytes)));
        }
        let unknown = [
            (t.cores, r.client.cores == 0),
            (t.memory, r.client.memory_bytes == 0),
        ];
        facts.retain(|(name, _)| !unknown.contains(&(*name, true)));
        facts.retain(|(_, value)| !value.is_empty());
        facts
    }

    pub fn fairness(&self) -> String {
        let f = &self.d.totals.fairness;
        fill(
            self.t.fairness_says,
            &[
                ("events", &three(f.events_avg)),
                ("events_dev", &three(f.events_stddev)),
                ("time", &three(f.time_avg_s)),
                ("time_dev", &three(f.time_stddev_s)),
            ],
        )
    }

    pub fn source(&self, source: Source) -> &'static str {
        match source {
            Source::Default => self.t.source_default,
            Source::ConfigFile => self.t.source_config,
            Source::CommandLine => self.t.source_command,
            Source::Output => self.t.source_output,
        }
    }

    pub fn error_class(&self, class: ErrorClass) -> &'static str {
        match class {
            ErrorClass::Retryable => self.t.class_retryable,
            ErrorClass::ConnectionLost => self.t.class_lost,
            ErrorClass::Refused => self.t.class_refused,
            ErrorClass::Constraint => self.t.class_constraint,
            ErrorClass::Missing => self.t.class_missing,
            ErrorClass::Fatal => self.t.class_fatal,
        }
    }

    pub fn made_by(&self) -> String {
        let r = self.d.record;
        fill(
            self.t.made_by,
            &[
                ("version", &r.tidemark_version),
                ("id", &r.id),
                ("schema", &r.schema_version.to_string()),
            ],
        )
    }
}

pub(crate) fn rows_differ(table: &TableState) -> bool {
    table.expected_rows.is_some_and(|e| e != table.rows)
}

/// `2026-11-21T20:05:23.123Z` as `2026-11-21 20:05:23 UTC`; anything else as it is.
pub(crate) fn readable_time(rfc3339: &str) -> String {
    match (rfc3339.get(..19), rfc3339.ends_with('Z')) {
        (Some(start), true) if rfc3339.as_bytes().get(10) == Some(&b'T') => {
            format!("{} UTC", start.replacen('T', " ", 1))
        }
        _ => rfc3339.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_readable() {
        assert_eq!(
            readable_time("2026-11-21T20:05:23.123456Z"),
            "2026-11-21 20:05:23 UTC"
        );
        assert_eq!(readable_time("yesterday"), "yesterday");
        assert_eq!(
            readable_time("2026-11-21T20:05:23+08:00"),
            "2026-11-21T20:05:23+08:00"
        );
    }
}
