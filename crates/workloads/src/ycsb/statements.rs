//! The statements of the operations, and what a session has prepared of them.

use super::schema::{KEY, field};
use super::settings::Settings;
use super::terminal::Scratch;
use crate::oltp::not_ready;
use std::cell::RefCell;
use std::sync::Arc;
use tidemark_core::DbError;
use tidemark_drivers::{Dialect, Session, Statement};

/// One session's statements; those that no operation of the mix sends are missing.
#[derive(Debug)]
pub struct Statements {
    settings: Arc<Settings>,
    /// Of all fields, or one for each field.
    read: Vec<Statement>,
    scan: Vec<Statement>,
    update: Vec<Statement>,
    insert: Option<Statement>,
    /// Memory that operations use one after another.
    scratch: RefCell<Option<Box<Scratch>>>,
}

impl Statements {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            read: Vec::new(),
            scan: Vec::new(),
            update: Vec::new(),
            insert: None,
            scratch: RefCell::new(None),
        }
    }

    /// Prepares every statement that operations of the mix send.
    ///
    /// # Errors
    /// The server's error.
    pub async fn prepare(&mut self, session: &mut Session) -> Result<(), DbError> {
        let sql = Sql {
            settings: &self.settings,
            dialect: session.dialect(),
        };
        let [read, update, insert, scan, both] = self.settings.proportions.map(|p| p > 0.0);
        self.read = prepared(
            session,
            read || both,
            sql.each(sql.settings.read_all, Sql::read),
        )
        .await?;
        self.scan = prepared(session, scan, sql.each(sql.settings.read_all, Sql::scan)).await?;
        let updates = sql.each(sql.settings.write_all, Sql::update);
        self.update = prepared(session, update || both, updates).await?;
        let inserts = prepared(session, insert, vec![sql.insert()]).await?;
        self.insert = inserts.into_iter().next();
        Ok(())
    }

    /// Reads a record: all fields, or the one of this number.
    pub(super) fn read(&self, field: usize) -> Result<&Statement, DbError> {
        self.read.get(field).ok_or_else(not_ready)
    }

    /// Reads records in the order of their keys.
    pub(super) fn scan(&self, field: usize) -> Result<&Statement, DbError> {
        self.scan.get(field).ok_or_else(not_ready)
    }

    /// Updates all fields of a record, or the one of this number.
    pub(super) fn update(&self, field: usize) -> Result<&Statement, DbError> {
        self.update.get(field).ok_or_else(not_ready)
    }

    pub(super) fn insert(&self) -> Result<&Statement, DbError> {
        self.insert.as_ref().ok_or_else(not_ready)
    }

    pub(super) fn take_scratch(&self) -> Box<Scratch> {
        self.scratch.take().unwrap_or_default()
    }

    pub(super) fn give_back(&self, scratch: Box<Scratch>) {
        self.scratch.replace(Some(scratch));
    }
}

async fn prepared(
    session: &mut Session,
    wanted: bool,
    texts: Vec<String>,
) -> Result<Vec<Statement>, DbError> {
    let mut statements = Vec::new();
    for text in texts.iter().filter(|_| wanted) {
        statements.push(session.prepare(text).await?);
    }
    Ok(statements)
}

/// The texts, which are go-ycsb's but for the order of a scan.
struct Sql<'a> {
    settings: &'a Settings,
    dialect: Dialect,
}

impl Sql<'_> {
    /// One statement of all fields, or one for each.
    fn each(&self, all: bool, text: fn(&Self, &[String]) -> String) -> Vec<String> {
        let fields: Vec<String> = (0..self.settings.field_count).map(field).collect();
        if all {
            vec![text(self, &fields)]
        } else {
            fields.chunks(1).map(|one| text(self, one)).collect()
        }
    }

    fn table(&self) -> String {
        self.dialect.quote(&self.settings.table)
    }

    /// The table, with the word that keeps a server to its primary key.
    fn by_key(&self) -> String {
        let hint = match self.settings.force_index {
            true => self.dialect.by_primary_key(),
            false => "",
        };
        format!("{}{hint}", self.table())
    }

    fn read(&self, fields: &[String]) -> String {
        let fields = fields.join(",");
        format!("SELECT {fields} FROM {} WHERE {KEY} = ?", self.by_key())
    }

    /// The keys come too where values are verified, for they follow from them.
    fn scan(&self, fields: &[String]) -> String {
        let key = match self.settings.integrity {
            true => format!("{KEY},"),
            false => String::new(),
        };
        format!(
            "SELECT {key}{} FROM {} WHERE {KEY} >= ? ORDER BY {KEY} LIMIT ?",
            fields.join(","),
            self.by_key()
        )
    }

    fn update(&self, fields: &[String]) -> String {
        let set: Vec<String> = fields.iter().map(|f| format!("{f} = ?")).collect();
        format!(
            "UPDATE {} SET {} WHERE {KEY} = ?",
            self.table(),
            set.join(", ")
        )
    }

    fn insert(&self) -> String {
        let fields = (0..self.settings.field_count).map(field);
        let columns: Vec<String> = std::iter::once(KEY.to_string()).chain(fields).collect();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        self.dialect.insert_unless_there(&self.table(), &columns)
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn statements_are_those_of_go_ycsb() {
        let asked = settings(&[("fieldcount", "2"), ("readallfields", "true")]).unwrap();
        for engine in Engine::ALL {
            let sql = Sql {
                settings: &asked,
                dialect: Dialect::new(engine),
            };
            let (name, hint, insert) = match engine.protocol() {
                tidemark_core::Protocol::Mysql => (
                    "`usertable`",
                    " FORCE INDEX(`PRIMARY`)",
                    "INSERT IGNORE INTO `usertable` (YCSB_KEY, FIELD0, FIELD1) VALUES (?, ?, ?)",
                ),
                tidemark_core::Protocol::Postgres => (
                    "\"usertable\"",
                    "",
                    "INSERT INTO \"usertable\" (YCSB_KEY, FIELD0, FIELD1) VALUES (?, ?, ?) \
                     ON CONFLICT DO NOTHING",
                ),
                tidemark_core::Protocol::Sqlite => (
                    "\"usertable\"",
                    "",
                    "INSERT OR IGNORE INTO \"usertable\" (YCSB_KEY, FIELD0, FIELD1) \
                     VALUES (?, ?, ?)",
                ),
            };
            assert_eq!(
                sql.each(true, Sql::read),
                [format!(
                    "SELECT FIELD0,FIELD1 FROM {name}{hint} WHERE YCSB_KEY = ?"
                )]
            );
            assert_eq!(
                sql.each(true, Sql::scan),
                [format!(
                    "SELECT FIELD0,FIELD1 FROM {name}{hint} WHERE YCSB_KEY >= ? \
                     ORDER BY YCSB_KEY LIMIT ?"
                )]
            );
            assert_eq!(
                sql.each(false, Sql::update),
                [
                    format!("UPDATE {name} SET FIELD0 = ? WHERE YCSB_KEY = ?"),
                    format!("UPDATE {name} SET FIELD1 = ? WHERE YCSB_KEY = ?"),
                ]
            );
            assert_eq!(sql.insert(), insert);
        }
    }
}
