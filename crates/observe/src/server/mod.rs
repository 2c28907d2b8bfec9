//! Sources of the database server: its processes, what it says of itself, its host.

mod access;
mod exporter_disks;
mod exposition;
mod files_written;
mod find;
mod http;
mod mysql_activity;
mod mysql_blockers;
mod mysql_status;
mod mysql_transactions;
mod node_exporter;
mod nodes;
mod postgres_activity;
mod postgres_held_up;
mod postgres_status;
mod postgres_tables;
mod process;
mod programs;
mod sessions;
mod sqlite;
mod statements;
mod types_during_look;
mod url;
mod yugabyte_flags;

pub use access::EndpointAccess;
pub(crate) use exporter_disks::exporter_disks;
pub(crate) use mysql_activity::MysqlActivity;
pub(crate) use mysql_status::{MysqlStatus, count_own};
pub(crate) use node_exporter::NodeExporter;
pub(crate) use nodes::{Nodes, ThroughPrometheus, host_of, reachable};
pub(crate) use postgres_activity::PostgresActivity;
pub(crate) use postgres_status::PostgresStatus;
pub(crate) use process::ServerProcess;
pub(crate) use sqlite::SqliteStatus;
pub(crate) use statements::{MysqlStatements, PostgresStatements};
pub(crate) use yugabyte_flags::{FlagServer, ServerFlags, set_flags};
