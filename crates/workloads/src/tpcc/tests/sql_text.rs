//! The text of statements on every engine.

use super::super::sql::Sql;
use super::super::statements::Style;
use super::fixture::settings;
use tidemark_core::{Engine, Protocol};
use tidemark_drivers::{Dialect, Template};

fn text(sql: Sql, engine: Engine, statements: &str) -> Option<String> {
    let dialect = Dialect::new(engine);
    let style = Style::of(&settings(&[("statements", statements)]), &dialect);
    sql.text(style, &dialect)
}

#[test]
fn rows_are_locked_where_the_database_is_not() {
    for engine in Engine::ALL {
        for statements in ["batched", "single"] {
            for sql in [Sql::Stock, Sql::Payer, Sql::Oldest] {
                let text = text(sql, engine, statements).unwrap();
                let locks = text.ends_with(" FOR UPDATE");
                assert_eq!(locks, engine != Engine::Sqlite, "{engine}: {text}");
            }
            let begin = text(Sql::Begin, engine, statements).unwrap();
            assert_eq!(begin == "BEGIN IMMEDIATE", engine == Engine::Sqlite);
        }
    }
}

#[test]
fn an_order_number_is_taken_in_one_statement_where_an_update_returns() {
    for engine in Engine::ALL {
        let next = text(Sql::NextOrder, engine, "batched").unwrap();
        let advance = text(Sql::AdvanceOrder, engine, "batched");
        let address = text(Sql::ReadWarehouse, engine, "batched");
        if engine.protocol() == Protocol::Mysql {
            assert!(next.starts_with("SELECT") && next.ends_with("FOR UPDATE"));
            assert!(advance.is_some() && address.is_some());
        } else {
            assert!(next.starts_with("UPDATE") && next.contains("RETURNING"));
            assert_eq!((advance, address), (None, None), "{engine}");
        }
    }
}

#[test]
fn batches_have_as_many_parameters_as_are_sent() {
    for engine in Engine::ALL {
        let count = |sql, statements| {
            let text = text(sql, engine, statements)?;
            Some(Template::new(&text).params())
        };
        let expected = match engine.protocol() {
            Protocol::Postgres => [1, 3, 6, 9, 3, 4, 4, 3, 3, 4],
            _ => [15, 31, 6, 0, 21, 22, 22, 21, 21, 4],
        };
        let sent = [
            Sql::Items,
            Sql::Stock,
            Sql::UpdateStock,
            Sql::InsertLine,
            Sql::Orderer,
            Sql::Ship,
            Sql::DeliverLines,
            Sql::DeleteNewOrder,
            Sql::Amount,
            Sql::Charge,
        ]
        .map(|sql| count(sql, "batched").unwrap_or(0));
        assert_eq!(sent, expected, "{engine}");
        assert_eq!(count(Sql::InsertLine, "single"), Some(9), "{engine}");
        assert_eq!(count(Sql::Stock, "single"), Some(3), "{engine}");
    }
    assert_eq!(Template::new(&Sql::insert_lines(15)).params(), 135);
}

/// A mix without a type needs none of its statements.
#[test]
fn what_the_mix_leaves_out_is_not_prepared() {
    let reads = [0, 0, 50, 0, 50];
    let needed: Vec<_> = Sql::ALL.iter().filter(|sql| sql.is_in(&reads)).collect();
    assert!(needed.contains(&&Sql::LastOrder) && needed.contains(&&Sql::LowStock));
    assert!(!needed.contains(&&Sql::Stock) && !needed.contains(&&Sql::Payer));
    assert!(Sql::ALL.iter().all(|sql| sql.is_in(&[45, 43, 4, 4, 4])));
}
