//! A database of two warehouses that is small enough to be known by heart.

use super::super::statements::Statements;
use super::super::work::{Expected, Scratch, TransactionWork};
use super::super::{OPTIONS, Settings, Table, schema};
use std::sync::Arc;
use tidemark_core::{OptionValues, PreparedMode, Source, Target};
use tidemark_drivers::{ConnectOptions, Connector, Session};
use tidemark_runtime::block_on;
use tidemark_testkit::{shared_mariadb, shared_postgres};

pub const WAREHOUSES: u64 = 2;
/// Items, and rows of stock of each warehouse.
pub const ITEMS: i64 = 40;
/// Customers of a district. 1, 2, 3 and 5 are BARBARBAR, by first name 2, 1, 3, 5; 4 has bad credit.
pub const CUSTOMERS: i64 = 5;
/// Orders of a district; the last two are not delivered, but in district 10 all are.
pub const ORDERS: i64 = 3;
/// Lines of each of these orders, with an amount of 1.10, 2.20, ….
pub const LINES: i64 = 5;

pub fn settings(options: &[(&str, &str)]) -> Settings {
    let mut values = OptionValues::defaults([OPTIONS]);
    values.set("warehouses", "2", Source::CommandLine).unwrap();
    for (name, value) in options {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    Settings::new(&values).unwrap()
}

/// One way to run a case.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    pub engine: &'static str,
    pub statements: &'static str,
    prepared: PreparedMode,
}

impl Way {
    /// Text can't be pipelined.
    pub fn is_pipelined(self) -> bool {
        self.statements == "pipelined" && self.prepared == PreparedMode::Server
    }
}

/// A session on the database, ready for transactions.
pub struct Ready {
    pub way: Way,
    pub session: Session,
    statements: Statements,
    scratch: Scratch,
}

impl Ready {
    pub fn work(&mut self, warehouse: i64) -> TransactionWork<'_> {
        TransactionWork {
            expected: Expected::default(),
            session: &mut self.session,
            sql: &self.statements,
            scratch: &mut self.scratch,
            warehouse,
        }
    }

    /// The rows of a query, as text.
    pub async fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        let rows = self.session.query(sql).await.unwrap();
        let text = |row, column| rows.text(row, column).unwrap_or("NULL".into());
        (0..rows.len())
            .map(|row| (0..rows.columns()).map(|c| text(row, c)).collect())
            .collect()
    }

    /// The numbers of a query's first row, in hundredths.
    pub async fn numbers(&mut self, sql: &str) -> Vec<i64> {
        let rows = self.session.query(sql).await.unwrap();
        assert_eq!(rows.len(), 1, "{sql}");
        let number = |column| (rows.float(0, column).unwrap() * 100.0).round() as i64;
        (0..rows.columns()).map(number).collect()
    }

    /// Every row of every table.
    pub async fn everything(&mut self) -> Vec<Vec<Vec<String>>> {
        let mut tables = Vec::new();
        for table in Table::ALL {
            let columns = table.columns();
            let order = (1..=columns.len()).map(|n| n.to_string());
            let order = order.collect::<Vec<_>>().join(", ");
            let (name, columns) = (table.name(), columns.join(", "));
            let sql = format!("SELECT {columns} FROM {name} ORDER BY {order}");
            tables.push(self.rows(&sql).await);
        }
        tables
    }
}

/// Runs a case every way, each on the rows that it begins with. Making databases and tables is what takes
/// long: those of an engine are made once.
pub fn every_way(name: &str, case: impl AsyncFn(&mut Ready) + Copy + 'static) {
    for engine in ["sqlite", "mariadb", "postgres"] {
        let folder = tempfile::tempdir().unwrap();
        let server = match engine {
            "mariadb" => Some(shared_mariadb().unwrap()),
            "postgres" => Some(shared_postgres().unwrap()),
            _ => None,
        };
        let database = server.map(|server| server.fresh_database(name).unwrap());
        let target = match &database {
            Some(database) => Target::parse(&database.url()).unwrap(),
            None => Target::sqlite(folder.path().join("cases.db").to_str().unwrap()),
        };
        let mut are_made = false;
        for statements in ["pipelined", "batched", "single"] {
            for prepared in [PreparedMode::Server, PreparedMode::Text] {
                let way = Way {
                    engine,
                    statements,
                    prepared,
                };
                let options = ConnectOptions {
                    prepared,
                    ..ConnectOptions::default()
                };
                let connector = Connector::new(target.clone(), options).unwrap();
                let have_tables = std::mem::replace(&mut are_made, true);
                block_on(async move {
                    let mut ready = open(&connector, way, have_tables).await;
                    case(&mut ready).await;
                    ready.session.close().await;
                })
                .unwrap();
            }
        }
    }
}

async fn open(connector: &Connector, way: Way, have_tables: bool) -> Ready {
    let mut session = connector.connect(0).await.unwrap();
    let settings = settings(&[("statements", way.statements)]);
    fill(&mut session, &settings, have_tables).await;
    let mut statements = Statements::new(Arc::new(settings));
    statements.prepare(&mut session).await.unwrap();
    Ready {
        way,
        session,
        statements,
        scratch: Scratch::default(),
    }
}

async fn fill(session: &mut Session, settings: &Settings, have_tables: bool) {
    for plan in schema::plans(settings, &session.dialect()).unwrap() {
        if have_tables {
            let gone = format!("DELETE FROM {}", plan.name);
            session.query(&gone).await.unwrap();
        } else {
            for sql in &plan.create {
                session.query(sql).await.unwrap();
            }
        }
        let rows = rows(Table::named(&plan.name).unwrap());
        let columns = plan.columns.join(", ");
        for chunk in rows.chunks(200) {
            let values = chunk.join("), (");
            let sql = format!("INSERT INTO {} ({columns}) VALUES ({values})", plan.name);
            session.query(&sql).await.unwrap();
        }
        for sql in plan.indexes.iter().filter(|_| !have_tables) {
            session.query(sql).await.unwrap();
        }
    }
}

const THEN: &str = "'2020-01-02 03:04:05'";

/// `s_dist_07` of item 4 is `D07-4-…`, 24 characters in all.
pub fn dist(district: i64, item: i64) -> String {
    format!("{:-<24}", format!("D{district:02}-{item}-"))
}

fn address() -> &'static str {
    "'street 1', 'street 2', 'city', 'ST', '123411111'"
}

/// Rows as they stand between parentheses.
fn rows(table: Table) -> Vec<String> {
    let warehouses = 1..=WAREHOUSES as i64;
    let districts = || {
        warehouses
            .clone()
            .flat_map(|w| (1..=10).map(move |d| (w, d)))
    };
    let orders = || districts().flat_map(|(w, d)| (1..=ORDERS).map(move |o| (w, d, o)));
    let delivered = |d: i64, o: i64| o == 1 || d == 10;
    match table {
        Table::Item => (1..=ITEMS)
            .map(|i| {
                let data = if i % 5 == 0 {
                    "an ORIGINAL one"
                } else {
                    "a copy"
                };
                format!("{i}, 1, 'item {i}', {i}.25, '{data}'")
            })
            .collect(),
        Table::Warehouse => warehouses
            .map(|w| format!("{w}, 'house {w}', {}, 0.1000, 300000.00", address()))
            .collect(),
        Table::Stock => warehouses
            .flat_map(|w| (1..=ITEMS).map(move |i| (w, i)))
            .map(|(w, i)| {
                let dists: Vec<_> = (1..=10).map(|d| format!("'{}'", dist(d, i))).collect();
                format!(
                    "{i}, {w}, 12, {}, 0, 0, 0, 'an ORIGINAL one'",
                    dists.join(", ")
                )
            })
            .collect(),
        Table::District => districts()
            .map(|(w, d)| {
                let next = ORDERS + 1;
                format!(
                    "{d}, {w}, 'part {d}', {}, 0.0500, 30000.00, {next}",
                    address()
                )
            })
            .collect(),
        Table::Customer => districts()
            .flat_map(|(w, d)| (1..=CUSTOMERS).map(move |c| (w, d, c)))
            .map(|(w, d, c)| {
                let first = ["b", "a", "c", "e", "d"][c as usize - 1];
                let (last, credit) = match c {
                    4 => ("BARBAROUGHT", "BC"),
                    _ => ("BARBARBAR", "GC"),
                };
                let data = format!("{c}").repeat(500);
                format!(
                    "{c}, {d}, {w}, '{first}', 'OE', '{last}', {}, '0123456789012345', {THEN}, \
                     '{credit}', 50000.00, 0.2000, -10.00, 10.00, 1, 0, '{data}'",
                    address()
                )
            })
            .collect(),
        Table::History => districts()
            .map(|(w, d)| format!("1, {d}, {w}, {d}, {w}, {THEN}, 10.00, 'first'"))
            .collect(),
        Table::Orders => orders()
            .map(|(w, d, o)| {
                let carrier = if delivered(d, o) { "7" } else { "NULL" };
                format!("{o}, {d}, {w}, {o}, {THEN}, {carrier}, {LINES}, 1")
            })
            .collect(),
        Table::NewOrder => orders()
            .filter(|(_, d, o)| !delivered(*d, *o))
            .map(|(w, d, o)| format!("{o}, {d}, {w}"))
            .collect(),
        Table::OrderLine => orders()
            .flat_map(|(w, d, o)| (1..=LINES).map(move |l| (w, d, o, l)))
            .map(|(w, d, o, l)| {
                let then = if delivered(d, o) { THEN } else { "NULL" };
                format!(
                    "{o}, {d}, {w}, {l}, {l}, {w}, {then}, 5, {l}.{l}0, '{}'",
                    dist(d, l)
                )
            })
            .collect(),
    }
}
