//! What a report says of the load: sentences and facts, the same in every form.

use crate::load::{DueArrivals, FiguresOf, LoadKind, SearchOutcome, option};
use crate::number::{percent, three, whole};
use crate::texts::fill;
use crate::words::Words;
use tidemark_core::Source;
use tidemark_core::record::{EffectiveOption, Outage, RunRecord};
use tidemark_core::tools::{ClosedLoop, Tool};

/// So many outages are named where the result is; the others are in their table.
const NAMED_OUTAGES: usize = 3;

impl Words<'_> {
    /// What made transactions start.
    pub(crate) fn how_load(&self) -> Vec<String> {
        let (r, t) = (self.d.record, self.t);
        let opened = r.sessions_opened.unwrap_or(r.sessions);
        let sessions = whole(opened as u64);
        let mut sentences = vec![match (self.d.kind, r.terminals) {
            (LoadKind::Open(rate), _) => fill(
                t.how_open,
                &[("rate", &three(rate)), ("sessions", &sessions)],
            ),
            (LoadKind::Steps, _) => {
                let asked = || r.steps.iter().filter_map(|s| s.rate);
                let bound =
                    |pick: fn(f64, f64) -> f64| asked().reduce(pick).map_or("–".into(), three);
                fill(
                    t.how_steps,
                    &[
                        ("count", &whole(asked().count() as u64)),
                        ("low", &bound(f64::min)),
                        ("high", &bound(f64::max)),
                        ("sessions", &sessions),
                    ],
                )
            }
            (LoadKind::Search, _) => fill(
                t.how_search,
                &[("objective", self.objective()), ("sessions", &sessions)],
            ),
            (LoadKind::Closed, Some(terminals)) => fill(
                t.how_terminals,
                &[
                    ("terminals", &whole(terminals as u64)),
                    ("sessions", &sessions),
                ],
            ),
            (LoadKind::Closed, None) if has_unknown_rate(r) => {
                fill(t.how_open_unknown, &[("sessions", &sessions)])
            }
            (LoadKind::Closed, None) if !is_known_as_closed(r) => {
                fill(t.how_unknown, &[("sessions", &sessions)])
            }
            (LoadKind::Closed, None) => fill(t.how_closed, &[("sessions", &sessions)]),
        }];
        if self.d.kind == LoadKind::Search {
            match SearchOutcome::figures(r) {
                (FiguresOf::Confirmation, _) => sentences.push(t.figures_confirmed.into()),
                (FiguresOf::LastTried, rate) => sentences.push(fill(
                    t.figures_last,
                    &[("rate", &rate.map_or("–".into(), three))],
                )),
                (FiguresOf::Nothing, _) => {}
            }
        }
        if let (LoadKind::Closed, Some(think)) = (self.d.kind, option(r, "think-time")) {
            sentences.push(fill(t.how_thinking, &[("think", think)]));
        }
        if r.inject_rtt_ms > 0.0 {
            let rtt = three(r.inject_rtt_ms);
            sentences.push(fill(t.how_distance, &[("rtt", &rtt)]));
        }
        sentences
    }

    fn objective(&self) -> &str {
        option(self.d.record, "find-max").unwrap_or("–")
    }

    /// What a search came to; `None` where there was none.
    pub(crate) fn found(&self) -> Option<String> {
        if self.d.kind != LoadKind::Search {
            return None;
        }
        let t = self.t;
        let (template, step) = match SearchOutcome::of(self.d.record) {
            SearchOutcome::Confirmed(step) => (t.found, step),
            SearchOutcome::Refuted(step) => (t.found_refuted, step),
            SearchOutcome::Unconfirmed(step) => (t.found_unconfirmed, step),
            SearchOutcome::None(Some(step)) => (t.found_none, step),
            SearchOutcome::None(None) if self.d.record.steps.is_empty() => {
                return Some(t.found_nothing.into());
            }
            SearchOutcome::None(None) => return Some(t.found_probe_only.into()),
        };
        let because = step.verdict.as_ref().map_or("–", |v| v.because.as_str());
        Some(fill(
            template,
            &[
                ("objective", self.objective()),
                ("rate", &step.rate.map_or("–".into(), three)),
                ("held", &t.duration(step.totals.elapsed_s)),
                ("because", because),
            ],
        ))
    }

    /// The outages, the longest few by name; `None` where there was none.
    pub(crate) fn away(&self) -> Option<String> {
        let t = self.t;
        let mut outages: Vec<_> = self.d.record.outages.iter().collect();
        outages.sort_by(|a, b| b.length_ms.total_cmp(&a.length_ms));
        let named: Vec<String> = outages
            .iter()
            .take(NAMED_OUTAGES)
            .map(|o| {
                let length = self.outage_length(o);
                fill(t.away_host, &[("host", &o.host), ("length", &length)])
            })
            .collect();
        let hosts = named.join(t.comma);
        let more = outages.len().saturating_sub(NAMED_OUTAGES);
        match (outages.len(), more) {
            (0, _) => None,
            (_, 0) => Some(fill(t.away, &[("hosts", &hosts)])),
            _ => {
                let more = whole(more as u64);
                Some(fill(t.away_more, &[("hosts", &hosts), ("more", &more)]))
            }
        }
    }

    pub(crate) fn outage_length(&self, outage: &Outage) -> String {
        let length = self.t.duration(outage.length_ms / 1000.0);
        if outage.ended {
            length
        } else {
            fill(self.t.not_over, &[("length", &length)])
        }
    }

    fn due(&self) -> DueArrivals {
        DueArrivals::of(&self.d.totals, self.d.all.count)
    }

    /// What of the load makes figures other than they seem.
    pub(crate) fn load_warnings(&self) -> Vec<String> {
        let (d, r, t) = (self.d, self.d.record, self.t);
        let mut warnings = Vec::new();
        if let Some(opened) = r.sessions_opened.filter(|n| *n < r.sessions) {
            warnings.push(fill(
                t.fewer_sessions,
                &[
                    ("asked", &whole(r.sessions as u64)),
                    ("opened", &whole(opened as u64)),
                ],
            ));
            if let Some(why) = &r.fewer_sessions_because {
                warnings.push(fill(t.fewer_because, &[("why", why)]));
            }
        }
        if let Some(late) = d.lateness.as_ref().filter(|l| l.matters) {
            let p99 = three(late.spread.p99_ms);
            warnings.push(fill(t.generator_late, &[("p99", &p99)]));
        }
        let late = d.steps.iter().filter(|s| s.late).count();
        if late > 0 {
            warnings.push(fill(
                t.steps_late,
                &[
                    ("count", &whole(late as u64)),
                    ("steps", &whole(d.steps.len() as u64)),
                ],
            ));
        }
        if d.totals.dropped_arrivals > 0 {
            let dropped = whole(d.totals.dropped_arrivals);
            warnings.push(match DueArrivals::skip_late_ms(r) {
                None => fill(t.arrivals_dropped, &[("dropped", &dropped)]),
                Some(limit) => {
                    let values = [("skipped", &*dropped), ("limit", &*three(limit))];
                    fill(t.arrivals_skipped, &values)
                }
            });
        }
        let due = self.due();
        if due.too_many_unserved() {
            warnings.push(fill(
                t.arrivals_unserved,
                &[
                    ("unserved", &whole(due.unserved)),
                    ("share", &percent(due.unserved as f64, due.all as f64)),
                ],
            ));
        }
        warnings
    }

    /// Names and values of the load's own facts; empty for a load that says nothing beyond its
    /// sessions and its rate.
    pub(crate) fn load_facts(&self) -> Vec<(&'static str, String)> {
        let (d, r, t) = (self.d, self.d.record, self.t);
        let mut facts = Vec::new();
        if let Some(terminals) = r.terminals {
            let opened = r.sessions_opened.unwrap_or(r.sessions);
            let values = [
                ("terminals", &*whole(terminals as u64)),
                ("sessions", &*whole(opened as u64)),
            ];
            facts.push((t.terminals, fill(t.terminals_on, &values)));
        }
        if let (LoadKind::Closed, Some(think)) = (d.kind, option(r, "think-time")) {
            facts.push((t.think_time, think.into()));
        }
        if r.inject_rtt_ms > 0.0 {
            facts.push((t.distance, format!("{} ms", three(r.inject_rtt_ms))));
        }
        if let Some(time) = option(r, "statement-timeout") {
            facts.push((t.statement_timeout, time.into()));
        }
        // Older records of open loop have none of what follows.
        if d.kind.is_open_loop() && d.all.wait.is_some() {
            let spacing = match option(r, "arrivals") {
                Some("constant") => t.spacing_constant,
                _ => t.spacing_poisson,
            };
            facts.push((t.spacing, spacing.into()));
            let served = three(d.transactions_per_s());
            facts.push((t.served, fill(t.rate_per_s, &[("rate", &served)])));
            let due = self.due();
            let dropped = match DueArrivals::skip_late_ms(r) {
                None => t.dropped,
                Some(_) => t.skipped_late,
            };
            for (name, count) in [
                (t.delayed, due.delayed),
                (dropped, due.dropped),
                (t.unserved, due.unserved),
            ] {
                let values = [
                    ("count", &*whole(count)),
                    ("share", &*percent(count as f64, due.all as f64)),
                ];
                facts.push((name, fill(t.count_of, &values)));
            }
        }
        facts
    }
}

/// Whether transactions arrived at a rate that the tool's output does not state (pgbench's `-R`).
pub(crate) fn has_unknown_rate(record: &RunRecord) -> bool {
    let rate = record.options.get("rate");
    record.imported.is_some() && record.rate.is_none() && rate.is_some_and(|r| r.value == "on")
}

/// Whether the command or the first lines of an output are there.
fn has_head(record: &RunRecord) -> bool {
    let imported = record.imported.as_ref();
    let has_version = imported.is_some_and(|i| i.tool_version.is_some());
    let printed = |option: &EffectiveOption| option.source == Source::Output;
    has_version || !record.command.is_empty() || record.options.values().any(printed)
}

/// Whether it is known that sessions waited for replies: other tools' outputs don't say.
fn is_known_as_closed(record: &RunRecord) -> bool {
    let Some(imported) = &record.imported else {
        return true;
    };
    match Tool::named(&imported.tool).closed_loop {
        ClosedLoop::Unknown => false,
        ClosedLoop::Head => has_head(record),
        ClosedLoop::Output => true,
    }
}

/// Whether transactions started on a schedule; `None` where a document does not say it.
pub(crate) fn open_loop_stated(record: &RunRecord, kind: LoadKind) -> Option<bool> {
    match kind.is_open_loop() || has_unknown_rate(record) {
        true => Some(true),
        false => is_known_as_closed(record).then_some(false),
    }
}
