//! Percentile distributions of HdrHistogram.

use super::tools::{figure, one};
use tidemark_import::{Origin, Unit, read};

const PERCENTILES: &str = "\
       Value     Percentile TotalCount 1/(1-Percentile)

       0.250 0.000000000000          1           1.00
       0.400 0.500000000000      50010           2.00
       0.520 0.750000000000      75020           4.00
       0.700 0.900000000000      90003          10.00
       0.810 0.950000000000      95001          20.00
       1.020 0.987500000000      98760          80.00
       1.100 0.990625000000      99070         106.67
       1.310 0.992187500000      99222         128.00
       2.500 0.999023437500      99903        1024.00
       8.003 1.000000000000     100000
#[Mean    =        0.411, StdDeviation   =        0.245]
#[Max     =        8.003, Total count    =       100000]
#[Buckets =           27, SubBuckets     =         2048]
";

#[test]
fn a_percentile_distribution_is_read() {
    let run = one(PERCENTILES);
    assert_eq!(figure(&run, "", "p50_ms"), 0.4);
    assert_eq!(figure(&run, "", "p95_ms"), 0.81);
    // A row says which percentile it is: none is exactly the 99th.
    assert_eq!(figure(&run, "", "p99.0625_ms"), 1.1);
    assert_eq!(figure(&run, "", "p99.902344_ms"), 2.5);
    assert_eq!(figure(&run, "", "mean_ms"), 0.411);
    assert_eq!(figure(&run, "", "stddev_ms"), 0.245);
    assert_eq!(figure(&run, "", "max_ms"), 8.003);
    assert_eq!(figure(&run, "", "count"), 100_000.0);
    let imported = run.imported.as_ref().unwrap();
    let percentiles = imported.figures.iter();
    let percentiles = percentiles.filter(|f| f.name.starts_with('p'));
    let lines: Vec<u64> = percentiles.map(|f| f.line).collect();
    assert_eq!(lines, [4, 5, 6, 7, 9, 11]);
}

#[test]
fn numbers_below_a_distribution_are_no_rows_of_it() {
    let row = "      99.000 0.999999000000     100000     1000000.00\n";
    // What stands below is left, and told as such.
    let figures = |text: &str| {
        let import = read(text.as_bytes(), &Origin::of("a.hgrm"), &mut |_, _, _| {});
        let runs = import.unwrap().runs;
        runs[0].imported.as_ref().unwrap().figures.len()
    };
    let whole = figures(PERCENTILES);
    assert_eq!(figures(&format!("{PERCENTILES}{row}")), whole);
    let above = PERCENTILES.replace("       8.003 1.0", &format!("{row}       8.003 1.0"));
    assert_eq!(figures(&above), whole + 1);
}

#[test]
fn the_unit_of_a_percentile_distribution_is_asked_for_or_told() {
    let unstated = read(
        PERCENTILES.as_bytes(),
        &Origin::of("a.hgrm"),
        &mut |_, _, _| {},
    );
    let unstated = unstated.unwrap().without_unit;
    assert_eq!(unstated.len(), 1);
    assert_eq!(unstated[0].2, Unit::Ms);
    let origin = Origin {
        unit: Some(Unit::Us),
        ..Origin::of("a.hgrm")
    };
    let asked = read(PERCENTILES.as_bytes(), &origin, &mut |_, _, _| {}).unwrap();
    assert_eq!(asked.without_unit, []);
    let mean = figure(&asked.runs[0], "", "mean_ms");
    assert!((mean - 0.000_411).abs() < 1e-9, "{mean}");
}

#[test]
fn csv_and_two_distributions_in_one_file_are_read() {
    let csv: String = PERCENTILES
        .lines()
        .map(|line| match line.starts_with('#') || line.is_empty() {
            true => format!("{line}\n"),
            false => line.split_whitespace().collect::<Vec<_>>().join(",") + "\n",
        })
        .collect();
    let text = csv.clone() + &csv.replace("100000", "200000");
    let import = super::tools::import(&text);
    let counts: Vec<f64> = import
        .runs
        .iter()
        .map(|run| figure(run, "", "count"))
        .collect();
    assert_eq!(counts, [100_000.0, 200_000.0]);
}
