//! What causes and parts are called.

use crate::series_names;
use crate::texts::{causes, evidence, parts};
use crate::{Cause, Evidence, Lang, Part, PartKind, WaitClass, Words};
use tidemark_core::observe::{CLIENT_HOST, SERVER_HOST, SERVER_PROCESS, SOURCES};

/// Evidence that is no series of the record, in both languages.
const MEASURED: &[(&str, &str)] = &[
    ("transactions", "事务"),
    ("wait for a session", "等待空闲会话"),
    ("connections opened", "新建连接"),
    (
        "time of a session between transactions",
        "会话在事务之间的时间",
    ),
    ("round trips of a transaction", "每个事务的网络往返"),
    ("fastest transaction", "最快的事务"),
    ("shortest round trip", "最短网络往返"),
    ("arrivals not served", "未处理的到达"),
    ("time of a read", "单次读耗时"),
    ("no transaction ended", "没有事务结束"),
    ("all sessions waited at once", "所有会话同时等待"),
    ("CPU of other programs", "其他程序的 CPU"),
    ("time of a flush", "单次刷盘耗时"),
    ("fsync of this machine", "本机 fsync 耗时"),
    ("rows read by a statement", "每条语句读取的行数"),
    ("connections refused", "被拒绝的连接"),
    ("sessions opened", "已建立的会话"),
    ("latency in the client", "客户端部分的延迟"),
];

impl Evidence {
    /// What people call it: series by their readable names, other figures by their metric.
    pub fn called(&self, lang: Lang) -> String {
        let of_series = self.metric.split_once(' ');
        let of_series = of_series.filter(|(source, _)| SOURCES.contains(source));
        if let Some((source, of)) = of_series {
            return series(source, of, lang);
        }
        let known = MEASURED.iter().find(|(en, _)| *en == self.metric);
        match (lang, known) {
            (Lang::Zh, Some((_, zh))) => (*zh).into(),
            _ => self.metric.clone(),
        }
    }
}

/// Series of a source: `NAME`, `NAME + NAME`, `NAME (WAIT, WAIT)`.
fn series(source: &str, of: &str, lang: Lang) -> String {
    let (names, detail) = match of.split_once(" (") {
        Some((names, detail)) => (names, Some(detail.strip_suffix(')').unwrap_or(detail))),
        None => (of, None),
    };
    let all = names.split(" + ");
    let all: Vec<&str> = all.map(|name| series_names::called(name, lang)).collect();
    let mut called = all.join(" + ");
    // Names that say whose they are need no more.
    let whose = match source {
        CLIENT_HOST if !names.starts_with("threads.") => Some(evidence::client_host(lang)),
        SERVER_HOST => Some(evidence::server_host(lang)),
        SERVER_PROCESS if names.starts_with("cgroup.") => Some(evidence::server(lang)),
        _ => None,
    };
    if let Some(whose) = whose {
        called = evidence::whose(lang, called, whose);
    }
    match detail {
        Some(detail) => evidence::detail(lang, called, detail),
        None => called,
    }
}

impl Cause {
    /// Its id, as in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Cause::ClientCpu => "client-cpu",
            Cause::NetworkDistance => "network-distance",
            Cause::TooFewSessions => "too-few-sessions",
            Cause::ServerCpu => "server-cpu",
            Cause::CommitLog => "commit-log",
            Cause::DiskRate => "disk-rate",
            Cause::CacheMisses => "cache-misses",
            Cause::RowLocks => "row-locks",
            Cause::TableLocks => "table-locks",
            Cause::LockHeld => "lock-held",
            Cause::Latches => "latches",
            Cause::ConnectionLimit => "connection-limit",
            Cause::ConnectionChurn => "connection-churn",
            Cause::Checkpoints => "checkpoints",
            Cause::Cleanup => "cleanup",
            Cause::LongTransaction => "long-transaction",
            Cause::StoreImbalance => "store-imbalance",
            Cause::MissingIndex => "missing-index",
            Cause::Overload => "overload",
            Cause::CpuQuota => "cpu-quota",
            Cause::Neighbour => "neighbour",
            Cause::OtherSessions => "other-sessions",
            Cause::Coherency => "coherency",
            Cause::ServerStalls => "server-stalls",
            Cause::OfferedLoad => "offered-load",
            Cause::NotEnoughSeen => "not-enough-seen",
        }
    }

    /// What people call it.
    pub fn title(self, lang: Lang) -> &'static str {
        let text: fn(Lang) -> &'static str = match self {
            Cause::ClientCpu => causes::client_cpu,
            Cause::NetworkDistance => causes::network_distance,
            Cause::TooFewSessions => causes::too_few_sessions,
            Cause::ServerCpu => causes::server_cpu,
            Cause::CommitLog => causes::commit_log,
            Cause::DiskRate => causes::disk_rate,
            Cause::CacheMisses => causes::cache_misses,
            Cause::RowLocks => causes::row_locks,
            Cause::TableLocks => causes::table_locks,
            Cause::LockHeld => causes::lock_held,
            Cause::Latches => causes::latches,
            Cause::ConnectionLimit => causes::connection_limit,
            Cause::ConnectionChurn => causes::connection_churn,
            Cause::Checkpoints => causes::checkpoints,
            Cause::Cleanup => causes::cleanup,
            Cause::LongTransaction => causes::long_transaction,
            Cause::StoreImbalance => causes::store_imbalance,
            Cause::MissingIndex => causes::missing_index,
            Cause::Overload => causes::overload,
            Cause::CpuQuota => causes::cpu_quota,
            Cause::Neighbour => causes::neighbour,
            Cause::OtherSessions => causes::other_sessions,
            Cause::Coherency => causes::coherency,
            Cause::ServerStalls => causes::server_stalls,
            Cause::OfferedLoad => causes::offered_load,
            Cause::NotEnoughSeen => causes::not_enough_seen,
        };
        text(lang)
    }
}

impl Part {
    /// What people call it.
    pub fn title(&self, lang: Lang) -> &'static str {
        let text: fn(Lang) -> &'static str = match self.part {
            PartKind::WaitingForSession => parts::waiting_for_session,
            PartKind::Client => parts::client,
            PartKind::Paused => parts::paused,
            PartKind::Network => parts::network,
            PartKind::ServerCpu => parts::server_cpu,
            PartKind::ServerAndNetwork => parts::server_and_network,
            PartKind::Unexplained => parts::unexplained,
            PartKind::ServerWait => match self.class {
                Some(WaitClass::RunQueue) => parts::run_queue,
                Some(WaitClass::Log) => parts::log,
                Some(WaitClass::DataRead) => parts::data_read,
                Some(WaitClass::DataWrite) => parts::data_write,
                Some(WaitClass::RowLock) => parts::row_lock,
                Some(WaitClass::TableLock) => parts::table_lock,
                Some(WaitClass::Advisory) => parts::advisory,
                Some(WaitClass::Latch) => parts::latch,
                Some(WaitClass::Other) | None => parts::other,
            },
        };
        text(lang)
    }
}

impl crate::Confidence {
    /// In a sentence.
    pub fn title(self, lang: Lang) -> &'static str {
        use crate::texts::confidence;
        match self {
            crate::Confidence::Low => confidence::low(lang),
            crate::Confidence::Medium => confidence::medium(lang),
            crate::Confidence::High => confidence::high(lang),
        }
    }

    /// Below a head that says what it is.
    pub fn word(self, lang: Lang) -> &'static str {
        use crate::texts::confidence;
        match self {
            crate::Confidence::Low => confidence::low_alone(lang),
            crate::Confidence::Medium => confidence::medium_alone(lang),
            crate::Confidence::High => confidence::high_alone(lang),
        }
    }
}

/// What the finding excludes, in words.
pub(crate) fn listed(causes: &[Cause]) -> Words {
    Words::of(|lang| {
        let gap = match lang {
            Lang::En => ", ",
            Lang::Zh => "、",
        };
        let names: Vec<&str> = causes.iter().map(|cause| cause.title(lang)).collect();
        names.join(gap)
    })
}

impl crate::Finding {
    /// The causes that its evidence excludes, in words; nothing where there are none.
    pub fn excluded(&self, lang: Lang) -> String {
        listed(&self.excludes).in_language(lang).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What causes show as evidence by a text of their own.
    #[test]
    fn evidence_has_names_in_both_languages() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/causes");
        let mut found = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
            for behind in source.split("seen.evidence(").skip(1) {
                let Some(text) = behind.trim_start().strip_prefix('"') else {
                    continue;
                };
                let text = text.split('"').next().unwrap();
                let known = MEASURED.iter().find(|(en, _)| *en == text);
                assert!(known.is_some_and(|(_, zh)| !zh.is_ascii()), "{text}");
                found += 1;
            }
        }
        assert!(found > 15, "{found}");
    }

    #[test]
    fn series_are_called_by_their_names() {
        for (metric, en, zh) in [
            (
                "client-host cpu.busy",
                "Processors: busy (client host)",
                "客户端主机：CPU 使用率",
            ),
            (
                "server-host disk.busy",
                "Disks: busy (database's host)",
                "数据库主机：磁盘忙碌比例",
            ),
            (
                "client-host threads.run-delay",
                "Client threads: run delay",
                "压测线程调度延迟（run delay）",
            ),
            (
                "server-process process.cpu-user + process.cpu-system",
                "Server: CPU, user + Server: CPU, system",
                "服务器进程 CPU（用户态） + 服务器进程 CPU（内核态）",
            ),
            (
                "server-activity sessions (IO:WalSync, IO:WalWrite)",
                "Sessions (IO:WalSync, IO:WalWrite)",
                "会话（IO:WalSync, IO:WalWrite）",
            ),
            (
                "server-nodes tikv.cpu (10.0.0.3:20180)",
                "TiKV: CPU (10.0.0.3:20180)",
                "TiKV：CPU（10.0.0.3:20180）",
            ),
            ("transactions", "transactions", "事务"),
            ("server-status made.up", "made.up", "made.up"),
        ] {
            let evidence = Evidence {
                metric: metric.into(),
                value: 1.0,
                unit: String::new(),
                cores: None,
                from_s: 0.0,
                to_s: 1.0,
            };
            assert_eq!(evidence.called(Lang::En), en);
            assert_eq!(evidence.called(Lang::Zh), zh);
        }
    }
}
