//! Tables of the load: parts of the latency, steps, outages, hosts.

use crate::load::{ServiceSplit, Spread, StepFigures, outside_outages};
use crate::number::{percent, three, whole};
use crate::report_table::ReportTable;
use crate::texts::fill;
use crate::words::Words;
use tidemark_core::record::{HostRole, StepPurpose};

impl Words<'_> {
    /// Tables that only some runs have, in order.
    pub(crate) fn load_tables(&self) -> Vec<ReportTable> {
        [self.parts(), self.steps(), self.outages(), self.hosts()]
            .into_iter()
            .filter(|table| !table.rows.is_empty())
            .collect()
    }

    fn parts(&self) -> ReportTable {
        let (d, t) = (self.d, self.t);
        let mut rows = Vec::new();
        let mut row = |name: &str, cells: [String; 5]| {
            rows.push(std::iter::once(name.to_string()).chain(cells).collect());
        };
        let cells = |s: Spread| [s.mean_ms, s.p50_ms, s.p95_ms, s.p99_ms, s.max_ms].map(three);
        // Of queries that are asked once each there are no parts.
        let split = ServiceSplit::of(&d.all).filter(|_| d.record.queries.is_empty());
        let mut parts = Vec::new();
        if let (Some(response), Some(wait)) = (&d.all.response, &d.all.wait) {
            parts.push((t.part_response, Spread::of(response)));
            parts.push((t.part_wait, Spread::of(wait)));
            parts.push((t.part_service, Spread::of(&d.all.service)));
        } else if split.is_some() {
            parts.push((t.part_service_alone, Spread::of(&d.all.service)));
        }
        parts.push((t.part_server, split.map(|s| s.server)));
        for (name, spread) in parts {
            if let Some(spread) = spread {
                row(name, cells(spread));
            }
        }
        if let Some(split) = split {
            // Of the difference of two distributions only the mean is known.
            let none = || "–".to_string();
            row(
                t.part_client,
                [three(split.client_mean_ms), none(), none(), none(), none()],
            );
            if let Some(paused) = split.paused_mean_ms {
                row(
                    t.part_paused,
                    [three(paused), none(), none(), none(), none()],
                );
            }
        }
        if let Some(late) = &d.lateness {
            row(t.part_lateness, cells(late.spread));
        }
        ReportTable {
            title: t.parts,
            says: String::new(),
            head: vec![t.part, t.mean_ms, t.p50_ms, t.p95_ms, t.p99_ms, t.max_ms],
            rows,
            numbers: 5,
        }
    }

    fn purpose(&self, purpose: StepPurpose) -> &'static str {
        match purpose {
            StepPurpose::Asked => self.t.purpose_asked,
            StepPurpose::Probe => self.t.purpose_probe,
            StepPurpose::Climb => self.t.purpose_climb,
            StepPurpose::Bisect => self.t.purpose_bisect,
            StepPurpose::Confirm => self.t.purpose_confirm,
        }
    }

    fn steps(&self) -> ReportTable {
        let t = self.t;
        let verdict = |s: &StepFigures<'_>| {
            let kept = s.step.verdict.as_ref().map(|v| {
                let template = if v.kept { t.kept } else { t.not_kept };
                fill(template, &[("because", &v.because)])
            });
            let late = s.late.then(|| t.was_late.to_string());
            let said: Vec<String> = kept.into_iter().chain(late).collect();
            said.join("; ")
        };
        let row = |s: &StepFigures<'_>| {
            let ms =
                |of: fn(&Spread) -> f64| s.latency.as_ref().map_or("–".into(), |l| three(of(l)));
            vec![
                self.purpose(s.step.purpose).into(),
                s.step.rate.map_or("–".into(), three),
                three(s.achieved),
                ms(|l| l.p50_ms),
                ms(|l| l.p95_ms),
                ms(|l| l.p99_ms),
                whole(s.step.totals.delayed_arrivals),
                whole(s.step.totals.dropped_arrivals),
                whole(s.step.totals.unserved_arrivals),
                verdict(s),
            ]
        };
        ReportTable {
            title: t.steps,
            says: String::new(),
            head: vec![
                t.step_purpose,
                t.step_rate,
                t.step_served,
                t.p50_ms,
                t.p95_ms,
                t.p99_ms,
                t.step_delayed,
                t.step_dropped,
                t.step_unserved,
                t.step_kept,
            ],
            rows: self.d.steps.iter().map(row).collect(),
            numbers: 8,
        }
    }

    fn outages(&self) -> ReportTable {
        let (d, t) = (self.d, self.t);
        let rows: Vec<Vec<String>> = d
            .record
            .outages
            .iter()
            .map(|o| {
                vec![
                    o.host.clone(),
                    t.duration(o.start_ms as f64 / 1000.0),
                    self.outage_length(o),
                    o.first_error.clone(),
                ]
            })
            .collect();
        let mut says = fill(
            t.outage_says,
            &[
                ("outage", &t.duration(d.totals.outage_s)),
                ("elapsed", &t.duration(d.totals.elapsed_s)),
            ],
        );
        if let Some(tps) = outside_outages(&d.totals) {
            let template = if d.kind.is_open_loop() {
                t.outage_outside_open
            } else {
                t.outage_outside
            };
            says.push_str(t.gap);
            says.push_str(&fill(template, &[("tps", &three(tps))]));
        }
        ReportTable {
            title: t.outages,
            says,
            head: vec![t.host, t.outage_from, t.outage_length, t.outage_first],
            rows,
            numbers: 2,
        }
    }

    /// Only where there is a choice of hosts.
    fn hosts(&self) -> ReportTable {
        let t = self.t;
        let hosts = &self.d.totals.hosts;
        let all: u64 = hosts.iter().map(|h| h.statements).sum();
        let shown = if hosts.len() > 1 {
            hosts.as_slice()
        } else {
            &[]
        };
        ReportTable {
            title: t.hosts,
            says: String::new(),
            head: vec![t.host, t.sessions, t.statements, t.share, t.role],
            rows: shown
                .iter()
                .map(|h| {
                    vec![
                        h.host.clone(),
                        whole(h.sessions),
                        whole(h.statements),
                        percent(h.statements as f64, all as f64),
                        match h.role {
                            HostRole::Any => t.role_any,
                            HostRole::Read => t.role_read,
                        }
                        .into(),
                    ]
                })
                .collect(),
            numbers: 3,
        }
    }
}
