//! What the MySQL-protocol tests share.

use std::future::Future;
use tidemark_core::{DbError, PreparedMode, Target};
use tidemark_drivers::{
    ConnectOptions, Connector, Outcome, RowSet, RowSource, RowWriter, Session, Value,
};
use tidemark_testkit::{Database, shared_mariadb};

/// An empty database of the shared server.
pub fn database(name: &str) -> Database {
    shared_mariadb().unwrap().fresh_database(name).unwrap()
}

/// Runs a test's future to its end.
pub fn run<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    tidemark_runtime::block_on(future).unwrap()
}

/// Where sessions of `url` are opened.
pub fn connector(url: &str, prepared: PreparedMode) -> Connector {
    let options = ConnectOptions {
        prepared,
        ..ConnectOptions::default()
    };
    Connector::new(Target::parse(url).unwrap(), options).unwrap()
}

/// One session, or why there is none.
pub async fn try_connect(url: &str) -> Result<Session, DbError> {
    let target = Target::parse(url).unwrap();
    Connector::new(target, ConnectOptions::default())?
        .connect(0)
        .await
}

/// One session.
pub async fn connect(url: &str) -> Session {
    try_connect(url).await.unwrap()
}

/// The first cell of a query, as an integer.
pub async fn number(session: &mut Session, sql: &str) -> i64 {
    session.query(sql).await.unwrap().int(0, 0).unwrap()
}

/// The first cell of a query, as text.
pub async fn text(session: &mut Session, sql: &str) -> String {
    session.query(sql).await.unwrap().text(0, 0).unwrap()
}

/// What one statement gave: its outcome and its cells as text.
pub async fn step(
    session: &mut Session,
    sql: &str,
    values: &[Value<'_>],
) -> (Outcome, Vec<Option<String>>) {
    let statement = session.prepare(sql).await.unwrap();
    let mut rows = RowSet::new();
    let outcome = session.fetch(&statement, values, &mut rows).await.unwrap();
    (outcome, cells(&rows))
}

/// All cells as text.
pub fn cells(rows: &RowSet) -> Vec<Option<String>> {
    let places = (0..rows.len()).flat_map(|r| (0..rows.columns()).map(move |c| (r, c)));
    places.map(|(r, c)| rows.text(r, c)).collect()
}

/// Rows made by a closure, which is told the row's number; false ends them.
pub struct Rows<F> {
    pub made: u64,
    pub make: F,
}

pub fn rows<F: FnMut(u64, &mut RowWriter<'_>) -> bool>(make: F) -> Rows<F> {
    Rows { made: 0, make }
}

impl<F: FnMut(u64, &mut RowWriter<'_>) -> bool> RowSource for Rows<F> {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        let more = (self.make)(self.made, row);
        self.made += u64::from(more);
        more
    }
}
