//! Writes reports of made-up runs into the folder given: to look at after a change.

#![allow(clippy::unwrap_used)] // a developer's tool says where it fails

#[path = "../tests/it/common/mod.rs"]
mod common;

use common::{Shape, run};
use tidemark_core::record::RunState;
use tidemark_report::Lang;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    let mut hour = Shape::one_type();
    hour.seconds = 3600;
    hour.types[0].1 = 300.0;
    let mut hour_of_five = Shape::five_types();
    hour_of_five.seconds = 3600;
    let mut interrupted = run(&Shape {
        seconds: 12,
        ..Shape::one_type()
    });
    interrupted.state = RunState::Interrupted;
    interrupted.tables_after[2].rows = 99_873;
    interrupted.notes = vec!["SHOW GLOBAL VARIABLES: access denied".into()];
    for (name, record) in [
        ("one-type", run(&Shape::one_type())),
        ("five-types", run(&Shape::five_types())),
        ("hour", run(&hour)),
        ("hour-of-five", run(&hour_of_five)),
        ("interrupted", interrupted),
        ("thinking", common::load::thinking()),
        ("overloaded", common::load::overloaded()),
        ("stepped", common::load::stepped()),
        ("searched", common::load::searched(true)),
    ] {
        for lang in Lang::ALL {
            let start = std::time::Instant::now();
            let page = tidemark_report::html(&record, lang)?;
            let path = format!("{folder}/{name}-{}.html", lang.tag());
            println!("{path}: {} bytes, {:?}", page.len(), start.elapsed());
            std::fs::write(path, page)?;
            let file = |end| format!("{folder}/{name}-{}.{end}", lang.tag());
            std::fs::write(file("txt"), tidemark_report::text(&record, lang)?)?;
            std::fs::write(file("md"), tidemark_report::markdown(&record, lang)?)?;
        }
    }
    let sizes = [("10k", 1.0), ("100k", 0.9), ("1M", 0.6), ("10M", 0.4)];
    let sizes = common::many::records(&["oltp_read_write"], &[8], ("size", &sizes), 1, 20);
    let targets = [("MariaDB", 1.0), ("PostgreSQL", 1.2)];
    let targets = common::many::records(
        &["oltp_read_write"],
        &[1, 4, 16, 64],
        ("target", &targets),
        1,
        30,
    );
    let sweep = [("on", 1.0)];
    let loads = [1, 2, 4, 8, 16, 32, 64, 128];
    let sweep = common::many::records(&["oltp_point_select"], &loads, ("x", &sweep), 3, 40);
    let isolation = common::many::ISOLATION;
    let distance = common::many::DISTANCE;
    let named = common::many::records(&["oltp_read_write"], &[16], isolation, 3, 20);
    let loads = [1, 2, 4, 8, 16, 32, 64];
    let named_loads = common::many::records(&["oltp_read_write"], &loads, isolation, 2, 20);
    let numbers = common::many::records(
        &["oltp_read_write", "oltp_point_select"],
        &[16],
        distance,
        3,
        20,
    );
    let two = common::many::of_two_factors("oltp_read_write", &[16], (isolation, distance), 2, 20);
    let two_loads =
        common::many::of_two_factors("oltp_read_write", &loads, (isolation, distance), 2, 20);
    let servers = [
        ("MariaDB 11.8.9 10.0.3.11:3306/sbtest", 1.0),
        ("PostgreSQL 18.4 10.0.3.12:5432/sbtest", 0.7),
    ];
    let queries = common::many::queries(&servers);
    for (name, many) in [
        (
            "named",
            common::many::with_factors("Isolation levels", &named, &[isolation]),
        ),
        (
            "named-loads",
            common::many::with_factors("Isolation under load", &named_loads, &[isolation]),
        ),
        (
            "numbers",
            common::many::with_factors("Distance", &numbers, &[distance]),
        ),
        (
            "two",
            common::many::with_factors("Isolation and distance", &two, &[isolation, distance]),
        ),
        (
            "two-loads",
            common::many::with_factors(
                "Isolation and distance under load",
                &two_loads,
                &[isolation, distance],
            ),
        ),
        ("queries", common::many::document("TPC-H", &queries)),
        ("study", common::many::durability(30)),
        ("sizes", common::many::document("Sizes of the data", &sizes)),
        ("targets", common::many::document("Two engines", &targets)),
        ("sweep", common::many::document("Thread sweep", &sweep)),
    ] {
        for lang in Lang::ALL {
            let page = many.html(lang)?;
            let path = format!("{folder}/{name}-{}.html", lang.tag());
            println!("{path}: {} bytes", page.len());
            std::fs::write(path, page)?;
            let text = many.markdown(lang)?;
            std::fs::write(format!("{folder}/{name}-{}.md", lang.tag()), text)?;
        }
        std::fs::write(format!("{folder}/{name}.csv"), many.csv())?;
        std::fs::write(format!("{folder}/{name}.json"), many.json()?)?;
    }
    Ok(())
}
