//! Which tables are TPC-C's own: its names are ones that users' tables have too.

use super::place::{Place, Quiet, execute};
use std::sync::Arc;
use tidemark_core::{Engine, OptionValues, Source};
use tidemark_drivers::Dialect;
use tidemark_drivers::catalog::{describe_table, list_tables, row_count};
use tidemark_engine::{EngineError, LoadSpec, Replace, StopHandle, drop_tables, prepare};
use tidemark_runtime::block_on;
use tidemark_workloads::Workload;
use tidemark_workloads::tpcc::{OPTIONS, Table, Tpcc};

fn tpcc(options: &[(&str, &str)]) -> Arc<dyn Workload> {
    let mut values = OptionValues::defaults([OPTIONS]);
    for (name, value) in [("warehouses", "4")].iter().chain(options) {
        values.set(name, value, Source::CommandLine).unwrap();
    }
    Arc::new(Tpcc::new(&values).unwrap())
}

fn dialect(place: &str) -> Dialect {
    Dialect::new(match place {
        "mariadb" => Engine::Mariadb,
        "postgres" => Engine::Postgres,
        _ => Engine::Sqlite,
    })
}

fn tables(place: &Place) -> Vec<String> {
    let connector = place.connector();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let tables = list_tables(&mut session).await.unwrap();
        session.close().await;
        tables
    })
    .unwrap()
}

fn rows(place: &Place, table: &'static str) -> u64 {
    let connector = place.connector();
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let rows = row_count(&mut session, table).await.unwrap();
        session.close().await;
        rows
    })
    .unwrap()
}

fn recognised(place: &Place, table: &str) -> bool {
    let (connector, table) = (place.connector(), table.to_string());
    block_on(async move {
        let mut session = connector.connect(0).await.unwrap();
        let found = describe_table(&mut session, &table).await.unwrap();
        let found = found.unwrap_or_else(|| panic!("no table {table}"));
        session.close().await;
        tpcc(&[]).recognises(&found)
    })
    .unwrap()
}

/// Tables of a shop that has nothing to do with the benchmark, and of one whose author read the
/// specification.
const USERS: &[(&str, &[&str])] = &[
    (
        "orders",
        &[
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, who VARCHAR(40), total DECIMAL(10, 2))",
            "INSERT INTO orders VALUES (1, 'Ann', 10.5), (2, 'Bob', 20)",
        ],
    ),
    (
        "item",
        &[
            "CREATE TABLE item (i_id INT NOT NULL, i_im_id INT, i_name VARCHAR(24), \
             i_price DECIMAL(5, 2), i_data VARCHAR(50), i_colour VARCHAR(9), PRIMARY KEY (i_id))",
            "INSERT INTO item VALUES (1, 2, 'hat', 3.5, 'felt', 'red')",
        ],
    ),
    (
        "new_order",
        &[
            "CREATE TABLE new_order (no_o_id INT NOT NULL, no_d_id INT NOT NULL, \
             no_w_id INT NOT NULL, PRIMARY KEY (no_o_id))",
            "INSERT INTO new_order VALUES (1, 1, 1)",
        ],
    ),
    // Empty, and all but the length of a name.
    (
        "warehouse",
        &[
            "CREATE TABLE warehouse (w_id INT NOT NULL, w_name VARCHAR(11), \
             w_street_1 VARCHAR(20), w_street_2 VARCHAR(20), w_city VARCHAR(20), w_state CHAR(2), \
             w_zip CHAR(9), w_tax DECIMAL(4, 4), w_ytd DECIMAL(12, 2), PRIMARY KEY (w_id))",
        ],
    ),
    (
        "history",
        &[
            "CREATE TABLE history (h_c_id INT NOT NULL, h_c_d_id INT NOT NULL, \
             h_c_w_id INT NOT NULL, h_d_id INT NOT NULL, h_w_id INT NOT NULL, h_date VARCHAR(30), \
             h_amount DECIMAL(6, 2), h_data VARCHAR(24))",
        ],
    ),
];

fn users_tables_are_refused_and_left_alone(name: &str) {
    for (table, statements) in USERS {
        let places = Place::all("tpcc_users");
        let (_, place) = places.into_iter().find(|(n, _)| *n == name).unwrap();
        execute(&place, statements);
        let before = rows(&place, table);
        for replace in [Replace::Nothing, Replace::Benchmark] {
            let spec = LoadSpec {
                replace,
                ..LoadSpec::default()
            };
            let stop = StopHandle::new();
            let refused = prepare(&place.connector(), &tpcc(&[]), &spec, &stop, &mut Quiet);
            let failure = refused.unwrap_err();
            assert!(
                matches!(&failure.error, EngineError::Refused(why) if why.contains(table)),
                "{name}: {failure}"
            );
            assert!(!failure.began, "{name}: {table}");
        }
        let refused = drop_tables(&place.connector(), &tpcc(&[]), 1, false, &StopHandle::new());
        let refused = refused.map_err(|failure| *failure.error);
        assert!(
            matches!(&refused, Err(EngineError::Refused(why)) if why.contains(table)),
            "{name}: {refused:?}"
        );
        assert_eq!(rows(&place, table), before, "{name}: {table}");
        assert_eq!(
            tables(&place),
            [*table],
            "{name}: nothing was made beside it"
        );
    }
}

/// What prepare makes, in every variant: recognised without its mark, and dropped.
fn tables_of_every_variant_are_recognised(name: &str) {
    let partitioned: &[&[(&str, &str)]] = &[
        &[("parts", "4")],
        &[("parts", "3"), ("partition-type", "range")],
        &[("parts", "2"), ("partition-type", "list-hash")],
        &[("parts", "4"), ("partition-type", "list-range")],
    ];
    let mut variants: Vec<&[(&str, &str)]> = vec![&[]];
    if name != "sqlite" {
        variants.push(&[("foreign-keys", "on")]);
        variants.extend(partitioned);
    }
    if name == "postgres" {
        variants.push(&[("parts", "4"), ("foreign-keys", "on")]);
    }
    let places = Place::all("tpcc_variants");
    let (_, place) = places.into_iter().find(|(n, _)| *n == name).unwrap();
    for options in variants {
        let plans = tpcc(options).tables(&dialect(name), 1).unwrap();
        let made = plans.iter().flat_map(|p| p.create.iter().chain(&p.indexes));
        let all: Vec<&str> = made
            .chain(plans.iter().flat_map(|p| &p.after_all))
            .map(String::as_str)
            .collect();
        execute(&place, &all);
        for table in Table::ALL {
            let table = table.name();
            assert!(recognised(&place, table), "{name}: {options:?}: {table}");
        }
        let dropped =
            drop_tables(&place.connector(), &tpcc(&[]), 1, false, &StopHandle::new()).unwrap();
        assert_eq!(dropped.len(), Table::ALL.len(), "{name}: {options:?}");
        assert!(tables(&place).is_empty(), "{name}: {options:?}");
    }
}

/// Tables as go-tpc 1.0 makes them; its older releases number the rows of history.
fn go_tpcs_tables_are_recognised(name: &str) {
    let time = if name == "mariadb" {
        "DATETIME"
    } else {
        "TIMESTAMP"
    };
    let number = match name {
        "mariadb" => "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY",
        _ => "id SERIAL PRIMARY KEY",
    };
    let history = |first: &str, last: &str| {
        format!(
            "CREATE TABLE IF NOT EXISTS history ({first} h_c_id INT NOT NULL, \
             h_c_d_id INT NOT NULL, h_c_w_id INT NOT NULL, h_d_id INT NOT NULL, \
             h_w_id INT NOT NULL, h_date {time}, h_amount DECIMAL(6, 2), h_data VARCHAR(24) {last})"
        )
    };
    let indexes = [
        "CREATE INDEX idx_h_w_id ON history (h_w_id)".to_string(),
        "CREATE INDEX idx_h_c_w_id ON history (h_c_w_id)".to_string(),
    ];
    let places = Place::all("tpcc_go");
    let (_, place) = places.into_iter().find(|(n, _)| *n == name).unwrap();
    for table in [
        history("", ""),
        history(&format!("{number},"), ""),
        history("", &format!(", {number}")),
    ] {
        let statements: Vec<&str> = std::iter::once(&table)
            .chain(&indexes)
            .map(String::as_str)
            .collect();
        execute(&place, &statements);
        assert!(recognised(&place, "history"), "{name}: {table}");
        execute(&place, &["DROP TABLE history"]);
    }
    let orders = format!(
        "CREATE TABLE IF NOT EXISTS orders (o_id INT NOT NULL, o_d_id INT NOT NULL, \
         o_w_id INT NOT NULL, o_c_id INT, o_entry_d {time}, o_carrier_id INT, o_ol_cnt INT, \
         o_all_local INT, PRIMARY KEY(o_w_id, o_d_id, o_id))"
    );
    let index = "CREATE INDEX idx_order ON orders (o_w_id, o_d_id, o_c_id, o_id)";
    execute(&place, &[&orders, index]);
    assert!(recognised(&place, "orders"), "{name}");
    // An index of the user's own makes it a table that somebody works with.
    execute(&place, &["CREATE INDEX mine ON orders (o_entry_d)"]);
    assert!(!recognised(&place, "orders"), "{name}");
}

macro_rules! places {
    ($($name:ident)*) => {
        $(mod $name {
            #[test]
            fn users_tables_are_refused_and_left_alone() {
                super::users_tables_are_refused_and_left_alone(stringify!($name));
            }

            #[test]
            fn tables_of_every_variant_are_recognised() {
                super::tables_of_every_variant_are_recognised(stringify!($name));
            }
        })*
    };
}

places!(mariadb postgres sqlite);

#[test]
fn go_tpcs_tables_are_recognised_on_mariadb() {
    go_tpcs_tables_are_recognised("mariadb");
}

#[test]
fn go_tpcs_tables_are_recognised_on_postgres() {
    go_tpcs_tables_are_recognised("postgres");
}
