//! Sessions that waited for their own host: the client measured itself, or shared its processors with
//! the server.

use crate::run::Run;
use crate::thresholds::{CLIENT_SHARE, CLIENT_SHARE_MS, CLIENT_SHARE_SAMPLES};
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "client-bound";

const SAME_HOST: Both = Both {
    en: "Of a session's mean latency of {mean} ms, {server}% passed at the server and on the way, and {client}% waiting for this host's processors: the target's address is this host's own, so client and server share its {cores} cores.",
    zh: "平均延迟 {mean} ms 中，服务端与网络占 {server}%，等待本机 CPU 占 {client}%：目标地址就是本机，压测客户端与数据库共用 {cores} 个核。",
};
const SAME_HOST_INSTEAD: Both = Both {
    en: "The figures hold for client and server together on this host, as other tools' do (a tunnel or proxy to another host looks the same: then the client is the limit). For the server's own figures run the client on another host, or use fewer sessions.",
    zh: "这些数据反映的是同一主机上客户端与数据库的整体表现（其他工具亦如此）；若本机端口只是通往其他主机的隧道或代理，则瓶颈在压测客户端。要得到数据库自身的性能，请把客户端放到另一台主机，或减少会话数。",
};
const OWN_HOST: Both = Both {
    en: "Of a session's mean latency of {mean} ms, {server}% passed at the server and on the way, and {client}% waiting for the client host ({cores} cores): the client limits what the server shows.",
    zh: "平均延迟 {mean} ms 中，服务端与网络占 {server}%，等待客户端主机占 {client}%（{cores} 个核）：瓶颈在压测客户端，而非数据库。",
};
const OWN_HOST_INSTEAD: Both = Both {
    en: "Use a client host with more cores or several client hosts, or fewer sessions; see that nothing else runs there, and that --executors and a CPU quota allow all its cores.",
    zh: "换用核数更多的客户端主机或增加客户端主机，或减少会话数；确认其上没有其他负载，且 --executors 与 CPU 配额允许使用全部核。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let Some(server) = &run.server else {
        return Ok(None);
    };
    let (whole_ns, server_ns) = (run.service.sum_ns() as f64, server.sum_ns() as f64);
    let share = 1.0 - server_ns / whole_ns;
    let count = run.service.count();
    let client_ms = (whole_ns - server_ns) / count as f64 / 1e6;
    // Written as "not above" so that no number is nothing, too.
    let is_small = share.is_nan() || share < CLIENT_SHARE || client_ms < CLIENT_SHARE_MS;
    if is_small || count < CLIENT_SHARE_SAMPLES || server.count() != count {
        return Ok(None);
    }
    let same_host = run.record.target_on_client == Some(true);
    let (severity, says, instead) = match same_host {
        true => (Severity::Note, SAME_HOST, SAME_HOST_INSTEAD),
        false => (Severity::Suspect, OWN_HOST, OWN_HOST_INSTEAD),
    };
    let mut figures = vec![
        ("mean", Figure::Number(whole_ns / count as f64 / 1e6)),
        ("server", Figure::Number((1.0 - share) * 100.0)),
        ("client", Figure::Number(share * 100.0)),
        ("cores", Figure::Count(run.record.client.cores as u64)),
    ];
    let busy = run.record.usage.host_busy;
    figures.extend(busy.map(|busy| ("host_busy", Figure::Number(busy * 100.0))));
    Ok(Some(Finding {
        rule: ID,
        severity,
        says,
        instead,
        figures,
    }))
}
