//! Tables of other collectors as series: what is kept, what is said, what is refused.

use proptest::prelude::*;
use tidemark_core::series::{Measures, Series};
use tidemark_import::series::{
    ColumnMapping, ReadSeries, ReadSeriesError, RemarkKind, RunWindow, read_series,
};

/// 2026-11-25 06:00:00 to 06:10:00 UTC, of which ten seconds are warm-up.
const WINDOW: RunWindow = RunWindow {
    begin_ms: 1_795_586_400_000,
    measured_ms: 1_795_586_410_000,
    end_ms: 1_795_587_000_000,
};

const MAPPING: &str = r#"
source = "vmstat"
[time]
column = "at"
format = "epoch"
[[column]]
column = "us"
name = "cpu.user"
unit = "ratio"
scale = 0.01
[[column]]
column = "cs"
name = "context-switches"
unit = "1/s"
measures = "rate"
labels = { host = "db1" }
"#;

fn read(mapping: &str, table: &str) -> Result<ReadSeries, ReadSeriesError> {
    let mapping = ColumnMapping::parse(mapping).unwrap();
    read_series(table.as_bytes(), &mapping, &WINDOW)
}

fn points(series: &Series) -> Vec<(i64, f64)> {
    let all = series.points().unwrap().map(|p| p.unwrap());
    all.map(|p| (p.at_ms, p.value)).collect()
}

fn remarks(read: &ReadSeries) -> Vec<(RemarkKind, u64, u64)> {
    let all = read.remarks.iter();
    all.map(|r| (r.kind, r.count, r.line)).collect()
}

#[test]
fn columns_become_series_within_the_run() {
    let table = "at,us,sy,cs\n1795586399,9,1,9\n1795586400,12.5,1,100\n1795586405,25,1,200\n\
                 1795586410,50,1,300\n\n1795587001,9,1,9\n";
    let got = read(MAPPING, table).unwrap();
    assert_eq!((got.inside, got.outside, got.heading), (3, 2, 1));
    assert_eq!(remarks(&got), []);
    let [user, switches] = got.series.as_slice() else {
        panic!("{got:?}");
    };
    assert_eq!(points(user), [(-10_000, 0.125), (-5000, 0.25), (0, 0.5)]);
    assert_eq!((user.step_ms, user.digits), (5000, 3));
    assert_eq!(user.key.source, "vmstat");
    assert_eq!(
        points(switches),
        [(-10_000, 100.0), (-5000, 200.0), (0, 300.0)]
    );
    assert_eq!(switches.key.measures, Measures::Rate);
    assert_eq!(switches.key.labels["host"], "db1");
}

#[test]
fn a_preamble_repeated_headings_and_times_without_a_year_are_taken() {
    let mapping = r#"
source = "dstat"
[time]
column = "time"
format = "%d-%m %H:%M:%S"
zone = "+08:00"
[[column]]
column = "usr"
name = "cpu.user"
unit = "%"
[[column]]
column = 4
name = "disk.read"
unit = "bytes/s"
"#;
    let table = "\"Dstat 0.7.4 CSV output\"\n\"Author:\",\"somebody\",,,,\"URL:\",\"http://x\"\n\
                 \"Host:\",\"db1\",,,,\"User:\",\"root\"\n\"Cmdline:\",\"dstat -tcd\",,,,\"Date:\",\"25 Nov\"\n\n\
                 \"system\",\"total cpu usage\",,\"dsk/total\",\n\"time\",\"usr\",\"sys\",\"read\",\"writ\"\n\
                 \"25-11 14:01:00\",4.5,1,1024,7\n\"time\",\"usr\",\"sys\",\"read\",\"writ\"\n\
                 \"25-11 14:01:01\",5.25,1,2048,7\n";
    let got = read(mapping, table).unwrap();
    assert_eq!((got.heading, got.inside), (7, 2));
    assert_eq!(points(&got.series[0]), [(50_000, 4.5), (51_000, 5.25)]);
    assert_eq!(points(&got.series[1]), [(50_000, 1024.0), (51_000, 2048.0)]);
    let with = |head: &str| format!("{head}\n{mapping}");
    // Where a number of lines is named, that one is the heading.
    assert!(read(&with("skip_lines = 6"), table).is_ok());
    let wrong = read(&with("skip_lines = 5"), table)
        .unwrap_err()
        .to_string();
    assert!(
        wrong.starts_with("line 6 has no column \"time\""),
        "{wrong}"
    );
}

#[test]
fn blanks_part_columns_and_labels_come_from_columns() {
    let mapping = r#"
source = "iostat"
delimiter = " "
[time]
column = ["date", "clock"]
format = "%Y-%m-%d %H:%M:%S"
[[column]]
column = "util"
name = "disk.busy"
unit = "ratio"
scale = 0.01
labels_from = { disk = "Device" }
"#;
    let table = "date clock Device util\n2026-11-25 06:01:00  sda 10\n2026-11-25 06:01:00 sdb   20\n\
                 2026-11-25 06:01:01 sda 30\n";
    let got = read(mapping, table).unwrap();
    let all: Vec<_> = got
        .series
        .iter()
        .map(|s| (s.key.labels["disk"].as_str(), points(s)))
        .collect();
    assert_eq!(
        all,
        [
            ("sda", vec![(50_000, 0.1), (51_000, 0.3)]),
            ("sdb", vec![(50_000, 0.2)])
        ]
    );
    assert_eq!(remarks(&got), []);
}

#[test]
fn what_is_odd_is_counted_with_its_first_line() {
    let long = "x".repeat(600 << 10);
    let table = format!(
        "at,us,sy,cs\n1795586420,1,1,NaN\n1795586419,2,1,5\ntotal,3,1,5\n1795586421,,1,inf\n\
         1795586420,7,1,6\n1795586422\n{long}\n1795586423,8,1,1e300\n"
    );
    let got = read(MAPPING, &table).unwrap();
    assert_eq!(
        remarks(&got),
        [
            (RemarkKind::NoNumber, 4, 2),
            (RemarkKind::Unsorted, 2, 3),
            (RemarkKind::NoTime, 1, 4),
            (RemarkKind::Short, 1, 7),
            (RemarkKind::Long, 1, 8),
            (RemarkKind::SameTime, 1, 6),
        ]
    );
    assert_eq!(
        points(&got.series[0]),
        [(9000, 0.02), (10_000, 0.01), (13_000, 0.08)]
    );
    assert_eq!(points(&got.series[1]), [(9000, 5.0), (10_000, 6.0)]);
}

#[test]
fn what_gives_nothing_says_why() {
    for (table, part) in [
        ("", "it is empty"),
        ("\n\n", "its lines are blank"),
        ("at,us,cs\n", "no row after the heading in line 1"),
        (
            "at,usr,cs\n1,1,1\n",
            "line 1 has no column \"us\"; did you mean \"usr\"?",
        ),
        (
            "at,us,cs\nyesterday,1,1\n",
            "line 2: \"yesterday\" is no time",
        ),
        (
            "at,us,cs\n1795586400\n",
            "line 2: \"1795586400\" has fewer columns",
        ),
        ("at,us,cs\n1795586400,a,b\n", "line 2: \"a\""),
        (
            "at,us,us,cs\n1,1,1,1\n",
            "line 1: columns 2, 3 are all called",
        ),
        (
            "at,us,cs\n17,1,1\n18,1,1\n",
            "none of its 2 rows is within the run",
        ),
        ("at,us,cs\0\n", "binary"),
    ] {
        let wrong = read(MAPPING, table).unwrap_err().to_string();
        assert!(wrong.contains(part), "{part}: {wrong}");
    }
    let outside = read(MAPPING, "at,us,cs\n18,1,1\n17,1,1\n").unwrap_err();
    assert!(matches!(
        outside,
        ReadSeriesError::Outside {
            rows: 2,
            first_ms: 17_000,
            last_ms: 18_000
        }
    ));
    // Chinese collectors write GBK.
    let mapping = ColumnMapping::parse(&MAPPING.replace("\"us\"", "\"用户\"")).unwrap();
    let table = b"at,\xd3\xc3\xbb\xa7,cs\n1795586400,1,1\n";
    assert_eq!(
        read_series(&table[..], &mapping, &WINDOW).unwrap().inside,
        1
    );
}

#[test]
fn a_wrong_mapping_is_told_by_line_with_what_is_right() {
    for (from, to, line, part) in [
        (
            "format = \"epoch\"",
            "fromat = \"epoch\"",
            5,
            "did you mean format?",
        ),
        (
            "source = \"vmstat\"",
            "sorce = \"vmstat\"",
            2,
            "did you mean source?",
        ),
        (
            "unit = \"1/s\"",
            "units = \"1/s\"",
            14,
            "did you mean unit?",
        ),
        ("\"epoch\"", "\"epcoh\"", 5, "did you mean epoch?"),
        (
            "\"epoch\"",
            "\"epoch\"\nzone = \"Mars\"",
            6,
            "Asia/Shanghai",
        ),
        ("\"rate\"", "\"rat\"", 15, "did you mean rate?"),
        ("0.01", "0", 10, "other than 0"),
        ("0.01", "\"x\"", 10, "must be a number"),
        ("\"vmstat\"", "\"client-host\"", 2, "is Tidemark's own"),
        ("source = \"vmstat\"", "", 6, "needs source"),
        ("column = \"us\"", "column = 0", 7, "a number from 1"),
        ("column = \"at\"", "", 3, "[time] needs column"),
        ("{ host = \"db1\" }", "7", 16, "must be a table of texts"),
        ("source = \"vmstat\"", "source = ", 2, "not TOML"),
        (
            "source = \"vmstat\"",
            "source = \"v\"\ndelimiter = \"ab\"",
            3,
            "one character",
        ),
    ] {
        let text = MAPPING.replacen(from, to, 1);
        let wrong = ColumnMapping::parse(&text).unwrap_err();
        assert!(wrong.message.contains(part), "{part}: {wrong}");
        assert_eq!(wrong.line, line, "{wrong}");
    }
    assert!(
        ColumnMapping::parse("")
            .unwrap_err()
            .to_string()
            .contains("needs time")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever a table holds, its series can be read again and are within the run.
    #[test]
    fn any_table_is_read_or_refused(
        rows in prop::collection::vec(("[0-9]{0,3}|1795586[4-9][0-9]{2}", "[-0-9.eNa]{0,6}", "\\PC{0,8}"), 0..40),
    ) {
        let rows: String = rows.iter().map(|(at, us, cs)| format!("{at},{us},{cs}\n")).collect();
        let table = format!("at,us,cs\n{rows}");
        if let Ok(got) = read(MAPPING, &table) {
            for series in &got.series {
                let all = points(series);
                prop_assert_eq!(all.len() as u64, series.count);
                prop_assert!(all.iter().all(|(at, _)| (-10_000..=590_000).contains(at)));
                prop_assert!(all.windows(2).all(|w| w[0].0 < w[1].0));
            }
        }
    }

    /// And so is a mapping.
    #[test]
    fn any_mapping_is_read_or_refused(text in "(\\[time\\]\n|\\[\\[column\\]\\]\n|[a-z_]{1,8} = (\"[a-z%]{0,5}\"|[0-9]{1,3}|\\{\\})\n){0,12}") {
        let _read_or_refused = ColumnMapping::parse(&text);
    }

    /// Any bytes are a table or are refused, whatever their times are said to be.
    #[test]
    fn any_bytes_are_read_or_refused(
        format in prop::sample::select(vec!["epoch", "%H:%M:%S", "%d-%m %H:%M:%S", "%Y"]),
        table in prop::collection::vec(
            prop_oneof![Just(b'\n'), Just(b','), Just(b':'), b'0'..=b'9', any::<u8>()],
            0..2000,
        ),
    ) {
        let mapping = format!(
            "source = \"x\"\n[time]\ncolumn = 1\nformat = \"{format}\"\n\
             [[column]]\ncolumn = 2\nname = \"a\"\nunit = \"1\"\n"
        );
        let mapping = ColumnMapping::parse(&mapping).unwrap();
        let begun = std::time::Instant::now();
        if let Ok(got) = read_series(table.as_slice(), &mapping, &WINDOW) {
            for series in &got.series {
                prop_assert_eq!(points(series).len() as u64, series.count);
            }
        }
        // Two thousand bytes take no time, on any machine.
        prop_assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    }
}

/// Times without a date, stamped at their end, of one column.
const CLOCK: &str = r#"
source = "sar"
[time]
column = "at"
format = "%H:%M:%S"
stamps = "end"
[[column]]
column = "us"
name = "cpu.user"
unit = "ratio"
"#;

#[test]
fn rows_that_tell_of_the_time_before_begin_at_the_row_above() {
    // Two devices a time: both began when the time above did.
    let table = "at,us\n05:59:00,9\n06:00:00,8\n06:01:00,1\n06:01:00,2\n06:02:00,3\n";
    let got = read(CLOCK, table).unwrap();
    // Nobody knows when the first began, and the second did before the run.
    assert_eq!((got.inside, got.outside), (3, 1));
    assert_eq!(remarks(&got)[0], (RemarkKind::NoBegin, 1, 2));
    assert_eq!(points(&got.series[0]), [(-10_000, 1.0), (50_000, 3.0)]);
    let at_begin = read(&CLOCK.replace("\"end\"", "\"begin\""), table).unwrap();
    assert_eq!(points(&at_begin.series[0])[0], (-10_000, 8.0));
    // In the reverse order it is the same.
    let reversed = "at,us\n06:02:00,3\n06:01:00,1\n06:00:00,8\n05:59:00,9\n";
    let reversed = read(CLOCK, reversed).unwrap();
    assert_eq!(points(&reversed.series[0]), points(&got.series[0]));
    assert!(remarks(&reversed).contains(&(RemarkKind::NoBegin, 1, 5)));
    let alone = read(CLOCK, "at,us\n06:01:00,1\n").unwrap_err();
    assert!(
        alone.to_string().contains("there is none before"),
        "{alone}"
    );
    // One after a pause tells of no more than its own time.
    let table = "at,us\n05:58:00,9\n05:59:00,8\n06:00:00,7\n06:04:00,1\n06:05:00,2\n";
    let got = read(CLOCK, table).unwrap();
    assert_eq!(points(&got.series[0]), [(230_000, 2.0)]);
    // Devices of one sample may be some seconds apart.
    let apart = "at,us,dev\n06:00:00,1,a\n06:00:01,2,b\n06:00:10,3,a\n06:00:11,4,b\n\
                 06:00:20,5,a\n06:00:21,6,b\n";
    let by_device = CLOCK.replace("unit =", "labels_from = { disk = \"dev\" }\nunit =");
    let got = read(&by_device, apart).unwrap();
    assert_eq!((got.inside, got.series.len()), (4, 2));
    let second = points(&got.series[1]);
    assert_eq!(second.iter().map(|p| p.1).collect::<Vec<_>>(), [4.0, 6.0]);
    let wrong = ColumnMapping::parse(&CLOCK.replace("\"end\"", "\"ends\"")).unwrap_err();
    assert!(wrong.to_string().contains("did you mean end?"), "{wrong}");
}

#[test]
fn times_without_a_date_are_of_one_day() {
    let table = |rows: std::ops::Range<u32>| {
        let rows = rows.map(|n| format!("{:02}:{:02}:00,1\n", n / 60 % 24, n % 60));
        String::from("at,us\n") + &rows.collect::<String>()
    };
    // Over midnight, but less than a day.
    let got = read(CLOCK, &table(23 * 60..(24 + 22) * 60)).unwrap();
    // Those that begin from 06:00 to 06:10.
    assert_eq!(got.inside, 11);
    let refused = read(CLOCK, &table(0..(24 + 7) * 60))
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("no date") && refused.contains("%Y-%m-%d"),
        "{refused}"
    );
}
