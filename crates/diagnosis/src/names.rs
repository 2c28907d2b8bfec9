//! What causes and parts are called.

use crate::texts::{causes, parts};
use crate::{Cause, Evidence, Lang, Part, PartKind, WaitClass, Words};

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
    /// What people call it: its metric, of which the English name is that of JSON.
    pub fn called(&self, lang: Lang) -> &str {
        let known = MEASURED.iter().find(|(en, _)| *en == self.metric);
        match (lang, known) {
            (Lang::Zh, Some((_, zh))) => zh,
            _ => &self.metric,
        }
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
    /// In a word.
    pub fn title(self, lang: Lang) -> &'static str {
        use crate::texts::confidence;
        match self {
            crate::Confidence::Low => confidence::low(lang),
            crate::Confidence::Medium => confidence::medium(lang),
            crate::Confidence::High => confidence::high(lang),
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
}
