//! No text makes the reader panic, and what it reads is what was written.
use proptest::prelude::*;
use std::time::Duration;
use tidemark_oltpbench::{JdbcUrl, Rate, WorkloadFile};

const FILES: [&str; 3] = [
    include_str!("../files/yugabyte.xml"),
    include_str!("../files/yugabyte_runtime.xml"),
    include_str!("../files/benchbase.xml"),
];

/// Reads, and makes a target: neither may panic. Messages are of one line.
fn look(text: &str) {
    match WorkloadFile::parse(text) {
        Ok(file) => {
            let said = match file.database.target(&["h"]) {
                Ok(target) => target.to_string(),
                Err(error) => error.to_string(),
            };
            assert!(!said.contains('\n'), "{said:?}");
            for work in &file.works {
                let sum: f64 = work.weights.iter().sum();
                assert!((sum - 100.0).abs() < 1e-3, "{:?}", work.weights);
                assert!(work.time >= Duration::from_secs(1));
            }
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
}

/// Pieces that files are made of, whole and broken.
fn piece() -> impl Strategy<Value = String> {
    let names = [
        "parameters",
        "dbtype",
        "type",
        "url",
        "DBUrl",
        "DBUrls",
        "username",
        "password",
        "DBName",
        "port",
        "isolation",
        "scalefactor",
        "terminals",
        "works",
        "work",
        "time",
        "rate",
        "weights",
        "warmup",
        "transactiontypes",
        "transactiontype",
        "transaction",
        "name",
        "id",
        "weight",
        "runtime",
        "randomSeed",
        "serial",
        "active_terminals",
        "nothing",
    ];
    let values = [
        "postgres",
        "1",
        "0",
        "-1",
        "1e400",
        "45,43,4,4,4",
        "100",
        "unlimited",
        "disabled",
        "NewOrder",
        "Payment",
        "jdbc:mysql://h/d",
        "jdbc:sqlite:x",
        "TRANSACTION_SERIALIZABLE",
        "18446744073709551616",
        "&amp;",
        "&x;",
        "<",
        "]]>",
        "<![CDATA[5]]>",
        "<!--c-->",
        "\n",
        "ä",
    ];
    prop_oneof![
        prop::sample::select(names.to_vec()).prop_map(|n| format!("<{n}>")),
        prop::sample::select(names.to_vec()).prop_map(|n| format!("</{n}>")),
        prop::sample::select(names.to_vec()).prop_map(|n| format!("<{n} bench='tpcc'/>")),
        (
            prop::sample::select(names.to_vec()),
            prop::sample::select(values.to_vec())
        )
            .prop_map(|(n, v)| format!("<{n}>{v}</{n}>")),
        prop::sample::select(values.to_vec()).prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        look(&text);
    }

    #[test]
    fn any_pieces_are_read_or_refused(pieces in prop::collection::vec(piece(), 0..40)) {
        look(&pieces.concat());
        look(&format!("<parameters>{}</parameters>", pieces.concat()));
    }

    #[test]
    fn a_file_with_a_hole_or_something_else_in_it(
        which in 0usize..3, at in 0usize..2_000, gone in 0usize..40, new in "\\PC{0,12}",
    ) {
        let chars: Vec<char> = FILES[which].chars().collect();
        let at = at.min(chars.len());
        let behind = (at + gone).min(chars.len());
        let text: String = chars[..at].iter().copied().chain(new.chars())
            .chain(chars[behind..].iter().copied()).collect();
        look(&text);
    }

    #[test]
    fn any_jdbc_url_is_read_or_refused(url in "(jdbc:)?(mysql|postgresql|sqlite|mariadb)?:?\\PC{0,60}") {
        match JdbcUrl::parse(&url) {
            Ok(read) => {
                let kind = JdbcUrl::kind(&url).map(str::to_ascii_lowercase);
                prop_assert_eq!(Some(read.protocol), kind);
            }
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{}", error),
        }
    }

    #[test]
    fn a_phase_is_read_as_it_was_written(
        time in 1u64..100_000, warmup in 0u64..1_000, rate in 0u32..3_000, cuts in [0u32..=100, 0..=100, 0..=100, 0..=100],
    ) {
        let mut cuts = cuts;
        cuts.sort_unstable();
        let bounds: Vec<u32> = std::iter::once(0).chain(cuts).chain([100]).collect();
        let weights: Vec<u32> = bounds.windows(2).map(|w| w[1] - w[0]).collect();
        let shown: Vec<String> = weights.iter().map(ToString::to_string).collect();
        let (word, expected) = match rate {
            0 => ("unlimited".to_string(), Rate::Unlimited),
            1 => ("disabled".to_string(), Rate::Disabled),
            n => (n.to_string(), Rate::PerSecond(n.into())),
        };
        let file = WorkloadFile::parse(&format!(
            "<parameters><works><work><time>{time}</time><warmup>{warmup}</warmup>\
             <rate>{word}</rate><weights> {} </weights></work></works></parameters>",
            shown.join(" , ")
        )).unwrap();
        let work = &file.works[0];
        prop_assert_eq!(work.time, Duration::from_secs(time));
        prop_assert_eq!(work.warmup, Duration::from_secs(warmup));
        prop_assert_eq!(work.rate, expected);
        let read: Vec<f64> = weights.iter().copied().map(f64::from).collect();
        prop_assert_eq!(read, work.weights.to_vec());
    }
}

#[test]
fn deep_and_long_files_are_refused_or_read() {
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    look(&deep);
    look(&format!("<parameters>{deep}</parameters>"));
    let long = format!("<parameters>{}</parameters>", " ".repeat(17 << 20));
    assert!(
        WorkloadFile::parse(&long)
            .unwrap_err()
            .to_string()
            .contains("larger than")
    );
    let many = format!("<parameters>{}</parameters>", "<a/>".repeat(1 << 21));
    assert!(
        WorkloadFile::parse(&many)
            .unwrap_err()
            .to_string()
            .contains("more elements")
    );
}
