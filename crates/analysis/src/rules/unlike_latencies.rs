//! Latencies that end at different moments beside each other.

use crate::compare::Measured;
use crate::{Both, Finding, Severity};

pub(super) const ID: &str = "unlike-latencies";

const SAYS: Both = Both {
    en: "Some of these runs were recorded by an earlier version, whose latencies end when the reply reaches the client's host; those of the others end when the session can go on, and so hold what the client's host makes a session wait. A difference in latency may be no more than that.",
    zh: "其中一部分压测由旧版本记录，其延迟截至应答到达客户端主机；其余压测的延迟截至会话可以继续执行，包含会话在客户端主机上的等待。延迟上的差异可能仅由此造成。",
};
const INSTEAD: Both = Both {
    en: "Compare throughput alone, or run the older side again.",
    zh: "只比较吞吐量，或重新运行旧版本记录的一方。",
};

/// Of a comparison's sides.
pub(super) fn check(a: &[&Measured], b: &[&Measured]) -> Option<Finding> {
    let mut ends = a.iter().chain(b).map(|run| run.job().get("latency end"));
    let first = ends.next()?;
    let differ = ends.any(|end| end != first);
    differ.then(|| Finding {
        rule: ID,
        severity: Severity::Suspect,
        says: SAYS,
        instead: INSTEAD,
        figures: Vec::new(),
    })
}
