//! A load of tables whose units are several rows, with foreign keys between them.

use std::sync::Arc;
use tidemark_core::{OptionError, Target};
use tidemark_drivers::catalog::{TableDescription, foreign_keys};
use tidemark_drivers::{ConnectOptions, Connector, Dialect, RowSource, RowWriter};
use tidemark_engine::{LoadObserver, LoadSpec, StopHandle, drop_tables, prepare};
use tidemark_runtime::block_on;
use tidemark_testkit::{Database, shared_mariadb, shared_postgres};
use tidemark_workloads::{Prewarm, Statements, TablePlan, Terminal, Workload, find};

const ORDERS: u64 = 8_000;

/// Orders, each of whose lines refer to it.
#[derive(Debug)]
struct Orders(Arc<dyn Workload>);

/// Lines of an order: one to seven.
fn lines(seed: u64, order: u64) -> u64 {
    1 + (order * 5 + seed) % 7
}

struct Rows {
    table: usize,
    seed: u64,
    order: u64,
    end: u64,
    line: u64,
}

impl RowSource for Rows {
    fn next_row(&mut self, row: &mut RowWriter<'_>) -> bool {
        if self.order == self.end {
            return false;
        }
        row.int(self.order.cast_signed() + 1);
        if self.table == 0 {
            row.text("0.50");
            self.order += 1;
            return true;
        }
        row.int(self.line.cast_signed());
        self.line += 1;
        if self.line == lines(self.seed, self.order) {
            self.line = 0;
            self.order += 1;
        }
        true
    }
}

impl Workload for Orders {
    fn name(&self) -> &'static str {
        "orders"
    }

    fn transaction_types(&self) -> &'static [&'static str] {
        self.0.transaction_types()
    }

    fn tables(&self, dialect: &Dialect, _: usize) -> Result<Vec<TablePlan>, OptionError> {
        // Both are heaps until their keys are made, so that there are indexes to make.
        let refers = "ALTER TABLE load_lines ADD CONSTRAINT load_line_order \
                      FOREIGN KEY (o) REFERENCES load_orders (o)";
        let without = !dialect.adds_foreign_keys();
        Ok(vec![
            TablePlan {
                name: "load_orders".into(),
                create: vec![
                    "CREATE TABLE load_orders (o INTEGER NOT NULL, tax DECIMAL(4, 4))".into(),
                ],
                columns: &["o", "tax"],
                rows: ORDERS,
                key: Some("o"),
                indexes: vec!["CREATE UNIQUE INDEX load_orders_o ON load_orders (o)".into()],
                ..TablePlan::default()
            },
            TablePlan {
                name: "load_lines".into(),
                create: vec!["CREATE TABLE load_lines (o INTEGER NOT NULL, n INTEGER)".into()],
                columns: &["o", "n"],
                rows: ORDERS,
                unit_bytes: 40,
                row_key: &["o", "n"],
                indexes: vec!["CREATE UNIQUE INDEX load_lines_on ON load_lines (o, n)".into()],
                after_all: (!without).then(|| refers.to_string()).into_iter().collect(),
                ..TablePlan::default()
            },
        ])
    }

    fn rows(&self, table: usize, first: u64, count: u64, seed: u64) -> Box<dyn RowSource + Send> {
        Box::new(Rows {
            table,
            seed,
            order: first,
            end: first + count,
            line: 0,
        })
    }

    fn row_count(&self, table: usize, first: u64, count: u64, seed: u64) -> u64 {
        match table {
            0 => count,
            _ => (first..first + count).map(|order| lines(seed, order)).sum(),
        }
    }

    fn recognises(&self, _: &TableDescription) -> bool {
        false
    }

    /// The key is the benchmark's own.
    fn additions(&self, found: &TableDescription) -> Vec<String> {
        found.extras.clone()
    }

    fn needs(&self, _: usize) -> Vec<String> {
        Vec::new()
    }

    fn prewarm(&self, _: &Dialect) -> Vec<Prewarm> {
        Vec::new()
    }

    fn statements(&self) -> Statements {
        Statements::None
    }

    fn terminal(&self, number: usize, terminals: usize, seed: u64) -> Terminal {
        self.0.terminal(number, terminals, seed)
    }
}

/// Ends a load after some rows, or never.
struct Until {
    rows: u64,
    stop: StopHandle,
    /// What was told last.
    done: u64,
    total: u64,
}

impl LoadObserver for Until {
    fn creating(&mut self, _: &str, _: u64, _: u64) {}

    fn progress(&mut self, done: u64, total: u64) {
        (self.done, self.total) = (done, total);
        if done > self.rows {
            self.stop.stop();
        }
    }

    fn indexing(&mut self, _: &str) {}

    fn verifying(&mut self) {}
}

fn until(rows: u64) -> Until {
    Until {
        rows,
        stop: StopHandle::new(),
        done: 0,
        total: 0,
    }
}

fn loaded(connector: &Connector, name: &str) {
    let definition = find("oltp_insert").unwrap();
    let any = (definition.build)(&definition.defaults()).unwrap();
    let workload: Arc<dyn Workload> = Arc::new(Orders(any));
    let spec = LoadSpec {
        threads: 3,
        chunk_rows: 20,
        seed: 3,
        ..LoadSpec::default()
    };
    let all = ORDERS + workload.row_count(1, 0, ORDERS, spec.seed);
    let mut observer = until(200);
    let stop = observer.stop.clone();
    let stopped = prepare(connector, &workload, &spec, &stop, &mut observer).unwrap_err();
    assert_eq!(stopped.rows_total, all, "{name}");
    let mut observer = until(u64::MAX);
    let stop = observer.stop.clone();
    let report = prepare(connector, &workload, &spec, &stop, &mut observer).unwrap();
    assert_eq!(report.rows_there, stopped.rows_done, "{name}");
    assert_eq!(report.rows_there + report.rows_loaded, all, "{name}");
    assert!(observer.done <= all, "{name}");
    // It may have had no more than a look at the tables left to do.
    assert!([0, all].contains(&observer.total), "{name}");
    let lines = &report.tables[1];
    assert_eq!(lines.rows, all - ORDERS, "{name}");
    // Every row of each unit looked at.
    assert!(lines.sampled > 64 && lines.mismatches == 0, "{name}");
    assert_eq!(report.tables[0].sampled, 64, "{name}");
    let connector = connector.clone();
    let keys = {
        let connector = connector.clone();
        block_on(async move {
            let mut session = connector.connect(0).await.unwrap();
            let keys = foreign_keys(&mut session, "load_lines").await.unwrap();
            session.close().await;
            keys
        })
        .unwrap()
    };
    let expected: &[&str] = match name {
        "sqlite" => &[],
        _ => &["load_line_order"],
    };
    assert_eq!(keys, expected, "{name}");
    let dropped = drop_tables(&connector, &workload, 1, false, &StopHandle::new()).unwrap();
    assert_eq!(dropped.len(), 2, "{name}");
}

#[test]
fn units_of_several_rows_and_foreign_keys_are_loaded() {
    let servers = [shared_mariadb().unwrap(), shared_postgres().unwrap()];
    for server in servers {
        let database: Database = server.fresh_database("units").unwrap();
        let target = Target::parse(&database.url()).unwrap();
        let connector = Connector::new(target, ConnectOptions::default()).unwrap();
        loaded(&connector, &server.engine().to_string());
    }
    let folder = tempfile::tempdir().unwrap();
    let target = Target::sqlite(folder.path().join("units.db").to_str().unwrap());
    let connector = Connector::new(target, ConnectOptions::default()).unwrap();
    loaded(&connector, "sqlite");
}
