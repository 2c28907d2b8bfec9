//! The network was measured, and not the database.

use crate::run::Run;
use crate::thresholds::{FLOOR, FLOOR_MS, FLOOR_SAMPLES};
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use tidemark_core::Protocol;

pub(super) const ID: &str = "latency-floor";

const SAYS: Both = Both {
    en: "The fastest transaction took {min} ms of the mean {mean} ms ({share}%): nearly all of it is a floor that no database work explains, such as round trips; {sessions} sessions can't get beyond {most} transactions/s.",
    zh: "最快的事务耗时 {min} ms，占平均值 {mean} ms 的 {share}%：几乎全是与数据库无关的固定耗时（如网络往返）；{sessions} 个会话最多只能达到 {most} TPS。",
};
const INSTEAD: Both = Both {
    en: "Measure the round trip by itself, move the client nearer, or raise the sessions until the latency rises.",
    zh: "单独测量网络往返时间，把客户端移近，或增加会话数直到延迟开始上升。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let (min, mean) = (
        run.service.min_ns() as f64 / 1e6,
        run.service.mean_ns() / 1e6,
    );
    let server = run.record.server.as_ref();
    // No network lies before an embedded engine.
    let embedded = server.is_some_and(|s| s.engine.protocol() == Protocol::Sqlite);
    if embedded || run.service.count() < FLOOR_SAMPLES || min < FLOOR_MS || min < FLOOR * mean {
        return Ok(None);
    }
    let sessions = run.record.sessions as u64;
    Ok(Some(Finding {
        rule: ID,
        severity: if run.record.inject_rtt_ms > 0.0 {
            // The distance was asked for.
            Severity::Note
        } else {
            Severity::Suspect
        },
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("min", Figure::Number(min)),
            ("mean", Figure::Number(mean)),
            ("share", Figure::Number(min / mean * 100.0)),
            ("sessions", Figure::Count(sessions)),
            ("most", Figure::Number(sessions as f64 * 1000.0 / min)),
        ],
    }))
}
