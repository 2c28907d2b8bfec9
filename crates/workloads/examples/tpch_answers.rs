//! Asks a target TPC-H's queries and writes its answers as they are stored.
//!
//! `cargo run -p tidemark-workloads --example tpch_answers -- sqlite:/tmp/tpch.db 0.01 | gzip -9n`
//! makes `src/tpch/answers/sf0.01.txt.gz`. What the queries took goes to the error output, and how
//! they compare with the stored answers where there are any.

use std::time::Instant;
use tidemark_core::{DbError, PreparedMode, Target};
use tidemark_drivers::{ConnectOptions, Connector, RowSet};
use tidemark_runtime::block_on;
use tidemark_workloads::tpch::answers::{Precision, QueryAnswer, Stored, compare, write_stored};
use tidemark_workloads::tpch::{Parameters, query};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let usage = "usage: tpch_answers URL SCALE [QUERY…]";
    let target = Target::parse(&words.next().ok_or(usage)?)?;
    let scale: f64 = words.next().ok_or(usage)?.parse()?;
    let stored = Stored::at(scale)?;
    let only: Vec<String> = words.collect();
    let options = ConnectOptions {
        prepared: PreparedMode::Text,
        ..ConnectOptions::default()
    };
    let connector = Connector::new(target, options)?.must_exist();
    let asked = async move {
        let mut session = connector.connect(0).await?;
        let mut rows = RowSet::new();
        for query in &query::ALL {
            if !only.is_empty() && !only.contains(&query.to_string()) {
                continue;
            }
            let parameters = Parameters::validation(query.number, scale);
            let sql = query.sql(&parameters, &session.dialect());
            let begun = Instant::now();
            let statement = session.prepare(&sql).await?;
            session.fetch(&statement, &[], &mut rows).await?;
            let (seconds, answer) = (begun.elapsed().as_secs_f64(), QueryAnswer::of(&rows));
            let right = stored
                .as_ref()
                .and_then(|s| Some((s.answer(query)?, s.precision)));
            let verdict = right.map(|(right, precision)| {
                let close = compare(query, right, &answer, Precision::Close).is_ok();
                match compare(query, right, &answer, precision) {
                    Ok(()) if close => "right to the cent".to_string(),
                    Ok(()) => "right".to_string(),
                    Err(difference) => difference.to_string(),
                }
            });
            let verdict = verdict.unwrap_or_default();
            eprintln!("{query}: {seconds:.2} s {verdict}");
            print!("{}", write_stored(query, &answer));
        }
        session.close().await;
        Ok::<(), DbError>(())
    };
    Ok(block_on(asked)??)
}
