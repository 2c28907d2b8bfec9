//! What answers at a target: the protocol it speaks and the engine behind it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The wire protocol of a target (SQLite has none: it is embedded).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The MySQL client/server protocol: MySQL, MariaDB, TiDB.
    Mysql,
    /// The PostgreSQL frontend/backend protocol 3.0: PostgreSQL, YugabyteDB, CockroachDB.
    Postgres,
    /// Embedded SQLite.
    Sqlite,
}

impl Protocol {
    /// Port used when the URL names none.
    pub fn default_port(self) -> u16 {
        match self {
            Protocol::Mysql => 3306,
            Protocol::Postgres => 5432,
            Protocol::Sqlite => 0,
        }
    }

    /// The variable of the environment in which the engine's own clients look for a password.
    pub fn password_variable(self) -> Option<&'static str> {
        match self {
            Protocol::Mysql => Some("MYSQL_PWD"),
            Protocol::Postgres => Some("PGPASSWORD"),
            Protocol::Sqlite => None,
        }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Mysql => "mysql",
            Protocol::Postgres => "postgres",
            Protocol::Sqlite => "sqlite",
        })
    }
}

/// The database engine detected behind a protocol. It chooses the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Oracle MySQL and what can't be told from it.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// TiDB.
    Tidb,
    /// PostgreSQL and what can't be told from it.
    Postgres,
    /// YugabyteDB's YSQL.
    Yugabyte,
    /// CockroachDB.
    Cockroach,
    /// SQLite.
    Sqlite,
}

impl Engine {
    /// Every engine Tidemark knows.
    pub const ALL: [Engine; 7] = [
        Engine::Mysql,
        Engine::Mariadb,
        Engine::Tidb,
        Engine::Postgres,
        Engine::Yugabyte,
        Engine::Cockroach,
        Engine::Sqlite,
    ];

    /// The protocol this engine speaks.
    pub fn protocol(self) -> Protocol {
        match self {
            Engine::Mysql | Engine::Mariadb | Engine::Tidb => Protocol::Mysql,
            Engine::Postgres | Engine::Yugabyte | Engine::Cockroach => Protocol::Postgres,
            Engine::Sqlite => Protocol::Sqlite,
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::Mysql => "MySQL",
            Engine::Mariadb => "MariaDB",
            Engine::Tidb => "TiDB",
            Engine::Postgres => "PostgreSQL",
            Engine::Yugabyte => "YugabyteDB",
            Engine::Cockroach => "CockroachDB",
            Engine::Sqlite => "SQLite",
        })
    }
}

/// What a target said of itself when a session was opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerInfo {
    /// The engine detected.
    pub engine: Engine,
    /// The version as the server prints it.
    pub version: String,
}
