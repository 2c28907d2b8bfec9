//! Tables as clients of databases and data frames print them: in boxes, or aligned by blanks.

use super::documents::import;
use tidemark_core::record::RunRecord;
use tidemark_import::{Became, Import, Origin, Unit, read};

fn figure(run: &RunRecord, name: &str) -> Option<f64> {
    run.imported.as_ref().unwrap().figure(name).map(|f| f.value)
}

/// Sessions, rate and 95th percentile of each run.
fn rows(import: &Import) -> Vec<(usize, Option<f64>, Option<f64>)> {
    let of = |run: &RunRecord| (run.sessions, figure(run, "rate"), figure(run, "p95_ms"));
    import.runs.iter().map(of).collect()
}

fn became(text: &str) -> Vec<Became> {
    let mut all = Vec::new();
    let mut seen = |_: u64, _: &str, became| all.push(became);
    read(text.as_bytes(), &Origin::of("a.md"), &mut seen).unwrap();
    all
}

const TWO: [(usize, Option<f64>, Option<f64>); 2] = [
    (16, Some(1000.5), Some(20.1)),
    (32, Some(1500.25), Some(31.0)),
];

#[test]
fn clients_of_databases_draw_tables() {
    for (client, text) in [
        (
            "mysql",
            "\
+---------+---------+----------+
| threads | tps     | p95 (ms) |
+---------+---------+----------+
|      16 | 1000.50 |     20.1 |
|      32 | 1500.25 |     31.0 |
+---------+---------+----------+
2 rows in set (0.00 sec)
",
        ),
        (
            "psql",
            " threads |   tps   | p95 (ms) 
---------+---------+----------
      16 | 1000.50 |     20.1
      32 | 1500.25 |     31.0
(2 rows)
",
        ),
        (
            "psql -A",
            "threads|tps|p95 (ms)\n16|1000.50|20.1\n32|1500.25|31.0\n(2 rows)\n",
        ),
        (
            "psql, unicode",
            "\
┌─────────┬─────────┬──────────┐
│ threads │   tps   │ p95 (ms) │
├─────────┼─────────┼──────────┤
│      16 │ 1000.50 │     20.1 │
│      32 │ 1500.25 │     31.0 │
└─────────┴─────────┴──────────┘
(2 rows)
",
        ),
        (
            "DuckDB",
            "\
┌─────────┬─────────┬──────────┐
│ threads │   tps   │ p95 (ms) │
│  int32  │ double  │  double  │
├─────────┼─────────┼──────────┤
│      16 │  1000.5 │     20.1 │
│      32 │ 1500.25 │     31.0 │
└─────────┴─────────┴──────────┘
",
        ),
        (
            "ClickHouse",
            "\
┌─threads─┬─────tps─┬─p95 (ms)─┐
│      16 │  1000.5 │     20.1 │
│      32 │ 1500.25 │       31 │
└─────────┴─────────┴──────────┘
",
        ),
        (
            "Polars",
            "\
shape: (2, 3)
┌─────────┬─────────┬──────────┐
│ threads ┆ tps     ┆ p95 (ms) │
│ ---     ┆ ---     ┆ ---      │
│ i64     ┆ f64     ┆ f64      │
╞═════════╪═════════╪══════════╡
│ 16      ┆ 1000.5  ┆ 20.1     │
│ 32      ┆ 1500.25 ┆ 31.0     │
└─────────┴─────────┴──────────┘
",
        ),
        (
            "rich",
            "\
┏━━━━━━━━━┳━━━━━━━━━┳━━━━━━━━━━┓
┃ threads ┃     tps ┃ p95 (ms) ┃
┡━━━━━━━━━╇━━━━━━━━━╇━━━━━━━━━━┩
│      16 │ 1,000.5 │     20.1 │
├─────────┼─────────┼──────────┤
│      32 │ 1500.25 │     31.0 │
└─────────┴─────────┴──────────┘
",
        ),
        (
            "reStructuredText",
            "\
+---------+---------+----------+
| threads | tps     | p95 (ms) |
+=========+=========+==========+
| 16      | 1000.5  | 20.1     |
+---------+---------+----------+
| 32      | 1500.25 | 31.0     |
+---------+---------+----------+
",
        ),
    ] {
        let read = import(text);
        assert_eq!(rows(&read), TWO, "{client}");
        assert_eq!(read.leftovers.lines, 0, "{client}: {:?}", read.leftovers);
        assert_eq!(read.without_unit, [], "{client}");
    }
}

#[test]
fn blanks_align_tables() {
    for (client, text) in [
        (
            "SQLite",
            "\
threads  tps      p95 (ms)
-------  -------  --------
16       1000.50  20.1    
32       1500.25  31.0    
",
        ),
        (
            "psql without a border",
            "threads   tps   p95_ms\n------- ------- ------\n     16 1000.50   20.1\n     32 1500.25   31.0\n",
        ),
        (
            "pandas",
            "   threads      tps  p95(ms)\n0       16  1000.50     20.1\n1       32  1500.25     31.0\n",
        ),
        (
            "column -t",
            "threads  tps      p95(ms)\n16       1000.50  20.1\n32       1500.25  31.0\n",
        ),
        (
            "one blank",
            "threads tps p95(ms)\n16 1000.5 20.1\n32 1500.25 31\n",
        ),
        (
            "reStructuredText",
            "=======  =======  ========\nthreads  tps      p95 (ms)\n=======  =======  ========\n16       1000.5   20.1\n32       1500.25  31.0\n=======  =======  ========\n",
        ),
        (
            "Chinese",
            "线程    TPS      P95（毫秒）\n16     1000.5   20.1\n32     1500.25  31.0\n",
        ),
    ] {
        let read = import(text);
        assert_eq!(rows(&read), TWO, "{client}");
        assert_eq!(read.leftovers.lines, 0, "{client}: {:?}", read.leftovers);
    }
}

#[test]
fn labels_with_blanks_and_cells_without_a_value_keep_their_columns() {
    let read = import(
        "\
workload        threads      tps  p95 (ms)
point select         16  1000.50
read only            32                31.0
point select         64     fast      12.5
",
    );
    let names: Vec<&str> = read.runs.iter().map(|run| run.workload.as_str()).collect();
    assert_eq!(names, ["point select", "read only", "point select"]);
    assert_eq!(
        rows(&read),
        [
            (16, Some(1000.5), None),
            (32, None, Some(31.0)),
            (64, None, Some(12.5))
        ]
    );
    // What is no number is told.
    let left: Vec<(u64, &str)> = read
        .leftovers
        .ranges
        .iter()
        .map(|(line, _, text)| (*line, text.as_str()))
        .collect();
    assert_eq!(left, [(4, "tps: fast")]);
}

#[test]
fn words_that_no_row_follows_are_words() {
    for text in [
        "TPS and latency depend on threads\nas was to be seen\n",
        "threads tps latency\n\n16 1000 20\n",
        "threads tps\n```\n16 1000\n```\n",
        "Device             tps    kB_read/s    kB_wrtn/s\nsda              12.00       100.00         3.00\n",
        "results\n├── run 1.txt\n│   └── 2.txt\n",
    ] {
        let read = import(text);
        assert_eq!(read.runs.len(), 0, "{text}");
        assert_eq!(read.leftovers.lines, 0, "{text}");
        assert!(!became(text).contains(&Became::Table), "{text}");
    }
}

#[test]
fn every_line_is_told_once_and_the_heading_is_of_the_table() {
    let text = "words\nthreads  tps\n-------  ----\n16       1000\n\nTPS of threads\nmore words\n";
    use Became::{Blank, Remark, Table};
    assert_eq!(
        became(text),
        [Remark, Table, Table, Table, Blank, Remark, Remark]
    );
    // A caption above the heading is the table's.
    let above = import("平均延迟（单位：us）\nthreads  tps   avg\n16       1000  800\n");
    assert_eq!(figure(&above.runs[0], "mean_ms"), Some(0.8));
}

fn in_unit(text: &str, unit: Option<Unit>) -> Import {
    let origin = Origin {
        unit,
        ..Origin::of("a.md")
    };
    read(text.as_bytes(), &origin, &mut |_, _, _| {}).unwrap()
}

#[test]
fn latencies_without_a_unit_are_told_and_taken_as_asked() {
    let text = "| threads | tps | avg | p95 |\n|---|---|---|---|\n| 16 | 1000 | 16000 | 20ms |\n| 32 | 1500 | 21000 | 30ms |\n";
    let silent = in_unit(text, None);
    assert_eq!(figure(&silent.runs[0], "mean_ms"), Some(16_000.0));
    assert_eq!(silent.without_unit, [(3, 4, Unit::Ms)]);
    let is_told = |note: &String| note.contains("taken as ms");
    assert!(silent.runs[0].notes.iter().any(is_told));
    for (unit, mean) in [
        (Unit::Us, 16.0),
        (Unit::Ns, 0.016),
        (Unit::Ms, 16_000.0),
        (Unit::S, 16e6),
    ] {
        let asked = in_unit(text, Some(unit));
        assert_eq!(figure(&asked.runs[0], "mean_ms"), Some(mean));
        // The cell has its own.
        assert_eq!(figure(&asked.runs[0], "p95_ms"), Some(20.0));
        assert_eq!(asked.without_unit, []);
    }
    let turned = "| metric | 8 threads | 16 threads |\n|---|---|---|\n| TPS | 1000 | 1800 |\n| p95 | 12 | 14 |\n";
    assert_eq!(in_unit(turned, None).without_unit.len(), 1);
    let asked = in_unit(turned, Some(Unit::Us));
    assert_eq!(figure(&asked.runs[1], "p95_ms"), Some(0.014));
}

#[test]
fn a_stated_unit_is_the_unit() {
    for text in [
        "threads,tps,p95 (us)\n16,1000,2000\n",
        "threads,tps,p95_us\n16,1000,2000\n",
        "threads,tps,p95\n16,1000,2000us\n",
        "latency in microseconds\n| threads | tps | p95 |\n|---|---|---|\n| | | us |\n| 16 | 1000 | 2000 |\n",
    ] {
        for unit in [None, Some(Unit::Ns)] {
            let read = in_unit(text, unit);
            assert_eq!(figure(&read.runs[0], "p95_ms"), Some(2.0), "{text}");
            assert_eq!(read.without_unit, [], "{text}");
        }
    }
}

#[test]
fn a_log_of_histograms_has_the_unit_that_it_states_or_that_is_named() {
    let mut latencies = tidemark_stats::Histogram::new();
    for _ in 0..100 {
        latencies.record(std::time::Duration::from_millis(2));
    }
    let log = tidemark_stats::interval_log(
        std::time::Duration::from_secs(1_700_000_000),
        &[],
        [tidemark_stats::LogInterval {
            tag: None,
            start: std::time::Duration::ZERO,
            length: std::time::Duration::from_secs(10),
            latencies,
        }],
    );
    let remark = "#[Values are in nanoseconds]";
    assert!(log.contains(remark), "{log}");
    let mean = |log: &str, unit| {
        let read = in_unit(log, unit);
        let mean = read.runs[0].intervals[0].types["transaction"]
            .quantiles
            .as_ref();
        (
            mean.unwrap().mean_ms.unwrap().round(),
            read.without_unit.len(),
        )
    };
    assert_eq!(mean(&log, None), (2.0, 0));
    assert_eq!(mean(&log, Some(Unit::Us)), (2.0, 0));
    let micros = log.replace("nanoseconds", "microseconds");
    assert_eq!(mean(&micros, None), (2000.0, 0));
    let silent = log.replace(remark, "#[Values]");
    assert_eq!(mean(&silent, None), (2.0, 1));
    assert_eq!(mean(&silent, Some(Unit::Us)), (2000.0, 0));
}
