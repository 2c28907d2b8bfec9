//! Time in which the client itself did not run.

use crate::dead::{Dead, Says, finding};
use crate::run::Run;
use crate::thresholds::CLIENT_DEAD_INVALID;
use crate::{AnalysisError, Both, Finding};

pub(super) const ID: &str = "client-stopped";

const SAYS: Says = Says {
    one: Both {
        en: "The client did not run from second {start} to {end} ({share}% of {measured} s): it sent nothing and read nothing, and latencies of the transactions in progress hold that time. Outside of it: {outside} transactions/s.",
        zh: "客户端在第 {start} 秒至第 {end} 秒没有运行（占 {measured} 秒的 {share}%）：其间既未发送请求也未读取响应，进行中事务的延迟包含这段时间。其余时间吞吐量 {outside} TPS。",
    },
    many: Both {
        en: "The client did not run for {seconds} of {measured} s ({share}%) in {stretches} stretches, the first from second {start} to {end}, the longest from second {longest_start} for {longest} s: it sent nothing and read nothing then. Outside of dead time: {outside} transactions/s.",
        zh: "{measured} 秒中客户端累计有 {seconds} 秒没有运行（占 {share}%），共 {stretches} 段：第一段为第 {start} 秒至第 {end} 秒，最长一段自第 {longest_start} 秒起持续 {longest} 秒，其间既未发送请求也未读取响应。其余时间吞吐量 {outside} TPS。",
    },
    all: Both {
        en: "The client did not run for {seconds} of {measured} s ({share}%), first from second {start} to {end}: next to nothing was measured.",
        zh: "{measured} 秒中客户端累计有 {seconds} 秒没有运行（占 {share}%），最早为第 {start} 秒至第 {end} 秒：几乎没有测到任何数据。",
    },
    instead: Both {
        en: "Find what stopped the client (a paused virtual machine, a signal, no processor or memory for it) and measure again; the server is not to blame for that time.",
        zh: "查明客户端为何停顿（虚拟机被暂停、收到信号、得不到处理器或内存）后重新测量；这段时间不应归咎于数据库。",
    },
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let found = Dead::of(run)
        .and_then(|dead| finding(run, &dead, &dead.client, (ID, CLIENT_DEAD_INVALID), &SAYS));
    Ok(found)
}
