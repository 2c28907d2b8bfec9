//! What causes and parts are called.

use crate::texts::{causes, parts};
use crate::{Cause, Lang, Part, PartKind, WaitClass, Words};

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
