//! The causes, one file each: what proves it, and what excludes it.

mod cache_misses;
mod checkpoints;
mod cleanup;
pub(crate) mod client_cpu;
mod coherency;
mod commit_log;
mod connection_churn;
mod connection_limit;
mod cpu_quota;
pub(crate) mod disk_rate;
mod drift;
mod latches;
mod lock_held;
mod long_transaction;
mod missing_index;
pub(crate) mod neighbour;
pub(crate) mod network_distance;
mod offered_load;
mod other_sessions;
pub(crate) mod overload;
mod row_locks;
mod server_cpu;
mod server_stalls;
mod store_imbalance;
mod table_locks;
mod too_few_sessions;

use crate::Cause;
use crate::outcome::Outcome;
use crate::seen::Observations;

/// Looks for one cause.
type Check = fn(&Observations<'_>) -> Outcome;

/// Every cause with its function.
pub(crate) const ALL: &[(Cause, Check)] = &[
    (Cause::ClientCpu, client_cpu::check),
    (Cause::NetworkDistance, network_distance::check),
    (Cause::TooFewSessions, too_few_sessions::check),
    (Cause::ServerCpu, server_cpu::check),
    (Cause::CommitLog, commit_log::check),
    (Cause::DiskRate, disk_rate::check),
    (Cause::CacheMisses, cache_misses::check),
    (Cause::RowLocks, row_locks::check),
    (Cause::TableLocks, table_locks::check),
    (Cause::LockHeld, lock_held::check),
    (Cause::Latches, latches::check),
    (Cause::ConnectionLimit, connection_limit::check),
    (Cause::ConnectionChurn, connection_churn::check),
    (Cause::Checkpoints, checkpoints::check),
    (Cause::Cleanup, cleanup::check),
    (Cause::LongTransaction, long_transaction::check),
    (Cause::StoreImbalance, store_imbalance::check),
    (Cause::MissingIndex, missing_index::check),
    (Cause::Overload, overload::check),
    (Cause::CpuQuota, cpu_quota::check),
    (Cause::Neighbour, neighbour::check),
    (Cause::OtherSessions, other_sessions::check),
    (Cause::Coherency, coherency::check),
    (Cause::ServerStalls, server_stalls::check),
    (Cause::OfferedLoad, offered_load::check),
];

/// Causes that are parts of any latency, and limit only a load that asks for more.
pub(crate) const AT_A_HIGHER_LOAD: &[Cause] = &[
    Cause::ClientCpu,
    Cause::NetworkDistance,
    Cause::TooFewSessions,
    Cause::ServerCpu,
    Cause::CommitLog,
    Cause::DiskRate,
    Cause::CacheMisses,
    Cause::RowLocks,
    Cause::TableLocks,
    Cause::Latches,
    Cause::Coherency,
];

/// Pairs of which the first makes the second: where both are found, and the first takes a good part of what
/// the second takes, the first is what to remove.
pub(crate) const MAKES: &[(Cause, Cause)] = &[
    (Cause::MissingIndex, Cause::ServerCpu),
    (Cause::MissingIndex, Cause::CacheMisses),
    (Cause::MissingIndex, Cause::DiskRate),
    (Cause::MissingIndex, Cause::RowLocks),
    (Cause::MissingIndex, Cause::TooFewSessions),
    (Cause::CacheMisses, Cause::ServerCpu),
    (Cause::Checkpoints, Cause::DiskRate),
    (Cause::Checkpoints, Cause::CommitLog),
    (Cause::Checkpoints, Cause::ServerCpu),
    (Cause::Checkpoints, Cause::Latches),
    // A log without room stops all that write.
    (Cause::Checkpoints, Cause::ServerStalls),
    (Cause::LongTransaction, Cause::Cleanup),
    (Cause::LongTransaction, Cause::MissingIndex),
    (Cause::LongTransaction, Cause::ServerCpu),
    (Cause::Neighbour, Cause::ServerCpu),
    (Cause::Neighbour, Cause::ClientCpu),
    (Cause::Neighbour, Cause::CpuQuota),
    (Cause::OtherSessions, Cause::ServerCpu),
    (Cause::OtherSessions, Cause::CommitLog),
    (Cause::OtherSessions, Cause::DiskRate),
    (Cause::OtherSessions, Cause::CacheMisses),
    // Rows are counted for all sessions together.
    (Cause::OtherSessions, Cause::MissingIndex),
    (Cause::OtherSessions, Cause::Latches),
    (Cause::CpuQuota, Cause::ServerCpu),
    (Cause::CpuQuota, Cause::ClientCpu),
    (Cause::CpuQuota, Cause::NetworkDistance),
    (Cause::ConnectionChurn, Cause::ServerCpu),
    (Cause::ConnectionChurn, Cause::TooFewSessions),
    (Cause::ConnectionLimit, Cause::ServerCpu),
    (Cause::ConnectionLimit, Cause::TooFewSessions),
    // A distance limits the rate of a closed loop only as far as sessions are few, and a schedule waits for
    // sessions that were refused.
    (Cause::ConnectionLimit, Cause::NetworkDistance),
    (Cause::ConnectionLimit, Cause::Overload),
    (Cause::LockHeld, Cause::RowLocks),
    (Cause::LockHeld, Cause::ServerStalls),
    (Cause::LockHeld, Cause::LongTransaction),
    (Cause::RowLocks, Cause::ServerCpu),
    // Sessions that queue for a row meet at its page and in the tables of locks.
    (Cause::RowLocks, Cause::Latches),
    (Cause::Latches, Cause::ServerCpu),
    (Cause::NetworkDistance, Cause::TooFewSessions),
    (Cause::CommitLog, Cause::TooFewSessions),
    (Cause::ServerStalls, Cause::OfferedLoad),
    (Cause::ServerStalls, Cause::ServerCpu),
    (Cause::LockHeld, Cause::OfferedLoad),
    (Cause::StoreImbalance, Cause::ServerCpu),
    // What is full at a load that is served limits only a higher one.
    (Cause::OfferedLoad, Cause::ServerCpu),
    (Cause::OfferedLoad, Cause::ClientCpu),
    (Cause::OfferedLoad, Cause::DiskRate),
];
