//! What one client of a run has told so far.

use std::collections::VecDeque;
use tidemark_clients::ClientEnd;
use tidemark_core::Shard;
use tidemark_core::record::{ClientHost, ClientState, Interval, RunRecord, RunState, Step};
use tidemark_engine::Started;
use tidemark_live::{ClientNow, ClientStage};
use tidemark_merge::{ClientClock, ClientRun};
use tidemark_report::Merged;

/// A client, as far as it has told.
#[derive(Default)]
pub(super) struct ClientReport {
    pub started: Option<Started>,
    pub record: Option<Box<RunRecord>>,
    pub failed: Option<(u8, String)>,
    pub lost: Option<String>,
    /// Rates that it held and that are not judged yet.
    pub steps: VecDeque<Step>,
    /// Of its last interval, where somebody wants to know.
    pub now: ClientNow,
}

impl ClientReport {
    /// How far it is.
    pub fn stage(&self) -> ClientStage {
        let has_failed = |record: &RunRecord| matches!(record.state, RunState::Failed(_));
        match (&self.lost, &self.failed, self.record.as_deref()) {
            (Some(_), ..) => ClientStage::Lost,
            (_, Some(_), _) => ClientStage::Failed,
            (.., Some(record)) if has_failed(record) => ClientStage::Failed,
            (.., Some(_)) => ClientStage::Ended,
            _ if self.started.is_some() => ClientStage::Running,
            _ => ClientStage::Preparing,
        }
    }

    /// Whether nothing more comes of it.
    pub fn is_over(&self) -> bool {
        self.record.is_some() || self.failed.is_some() || self.lost.is_some()
    }

    /// Sessions that it has opened.
    pub fn sessions(&self) -> usize {
        self.started.as_ref().map_or(0, |started| started.sessions)
    }

    /// Its part of the record.
    pub fn run(self, end: &ClientEnd, shard: Shard) -> ClientRun {
        let ms = |ns: i64| ns as f64 / 1e6;
        let state = match (&self.record, self.lost, self.failed) {
            (_, Some(why), _) => ClientState::Lost(why),
            (_, _, Some((_, why))) => ClientState::Failed(why),
            (Some(record), ..) => match &record.state {
                RunState::Failed(why) => ClientState::Failed(why.clone()),
                RunState::Interrupted => ClientState::Interrupted,
                _ => ClientState::Finished,
            },
            (None, ..) => ClientState::Absent,
        };
        ClientRun {
            name: end.facts.agent.clone(),
            shard,
            host: ClientHost {
                hostname: end.facts.hostname.clone(),
                ..ClientHost::default()
            },
            record: self.record.map(|record| *record),
            state,
            clock: end.late_ns.map(|late| ClientClock {
                offset_ms: ms(end.facts.clock.ns),
                error_ms: ms(end.facts.clock.error_ns),
                start_late_ms: ms(late),
            }),
        }
    }
}

/// What a client's interval tells of it. One that can't be read ends the run elsewhere.
pub(super) fn now_of(interval: &Interval, cpus: Option<f64>, host_busy: Option<f64>) -> ClientNow {
    let one = Merged::of([interval]).unwrap_or_default();
    let all = one.all();
    let latency = all.latency();
    ClientNow {
        rate: one.per_second(one.transactions()),
        p95_ns: (!latency.is_empty()).then(|| latency.percentile_ns(95.0)),
        cpus,
        host_busy,
        ..ClientNow::default()
    }
}
