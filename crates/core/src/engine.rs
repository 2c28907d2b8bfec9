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

    /// What is known of it here; what its dialect is, drivers know.
    const fn row(self) -> Row {
        match self {
            Engine::Mysql => Row::new("MySQL", Protocol::Mysql),
            Engine::Mariadb => Row::new("MariaDB", Protocol::Mysql),
            Engine::Tidb => Row::new("TiDB", Protocol::Mysql)
                .with_its_own_settings()
                .of_nodes(),
            Engine::Postgres => Row::new("PostgreSQL", Protocol::Postgres),
            Engine::Yugabyte => Row::new("YugabyteDB", Protocol::Postgres).of_nodes(),
            Engine::Cockroach => Row::new("CockroachDB", Protocol::Postgres)
                .with_its_own_settings()
                .of_nodes(),
            Engine::Sqlite => Row::new("SQLite", Protocol::Sqlite),
        }
    }

    /// The protocol this engine speaks.
    pub const fn protocol(self) -> Protocol {
        self.row().protocol
    }

    /// Whether its settings have little but names in common with those of other engines of its
    /// protocol: it came from none of them.
    pub const fn has_its_own_settings(self) -> bool {
        self.row().has_its_own_settings
    }

    /// Whether it is a cluster, whose nodes have metrics of their own.
    pub const fn is_cluster(self) -> bool {
        self.row().is_cluster
    }

    /// Whether it works in the client's own process.
    pub const fn is_embedded(self) -> bool {
        matches!(self.protocol(), Protocol::Sqlite)
    }
}

struct Row {
    title: &'static str,
    protocol: Protocol,
    has_its_own_settings: bool,
    is_cluster: bool,
}

impl Row {
    const fn new(title: &'static str, protocol: Protocol) -> Self {
        Self {
            title,
            protocol,
            has_its_own_settings: false,
            is_cluster: false,
        }
    }

    const fn with_its_own_settings(mut self) -> Self {
        self.has_its_own_settings = true;
        self
    }

    const fn of_nodes(mut self) -> Self {
        self.is_cluster = true;
        self
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().title)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_of_several_nodes_are_clusters() {
        let clusters = Engine::ALL.into_iter().filter(|engine| engine.is_cluster());
        let clusters: Vec<Engine> = clusters.collect();
        assert_eq!(
            clusters,
            [Engine::Tidb, Engine::Yugabyte, Engine::Cockroach]
        );
    }
}
