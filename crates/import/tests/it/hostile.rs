//! Any bytes, and documents that are cut or put together.

use super::documents::SYSBENCH_1;
use proptest::prelude::*;
use std::cell::Cell;
use std::io::Read;
use tidemark_import::{Origin, read};

fn runs(bytes: &[u8]) -> usize {
    read(bytes, &Origin::of("x"), &mut |_, _, _| {}).map_or(0, |i| i.runs.len())
}

/// Pieces that formats know, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let known = [
        "[ 1s ] thds: ",
        "tps: ",
        "qps: ",
        "(r/w/o: ",
        "lat (ms,95%): ",
        "SQL statistics:\n",
        "\n",
        " ",
        "9",
        "1e999",
        "Latency histogram\n",
        "|****",
        "[Summary] NEW_ORDER - ",
        "Takes(s): ",
        "Count: ",
        "READ - Takes(s): ",
        "[READ], ",
        "AverageLatency(us), ",
        "progress: ",
        " s, ",
        " tps",
        "transaction type: ",
        "{",
        "}",
        "\"a\": ",
        "[",
        "]",
        "| TPS | threads |\n|---|---|\n",
        "|",
        "1,234",
        " + ",
        "sysbench --threads=",
        "--",
        "pgbench -c",
        "```\n",
        "Results(nanoSeconds=",
        "client ",
        "客户端",
        "，",
        "：",
        "\u{1b}[",
        "tpmC: ",
        "-",
        ".",
        "%",
        "[0] sc:",
        "NOPM ",
        "System achieved ",
        ",HISTFAAAA",
        "\\\n",
        "P95",
        "ms",
        "NaN",
        "inf",
        "18446744073709551616",
    ];
    prop::collection::vec(prop::sample::select(known.to_vec()), 0..60).prop_map(|p| p.concat())
}

proptest! {
    #[test]
    fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        runs(&bytes);
    }

    #[test]
    fn any_pieces_end_and_figures_are_numbers(text in pieces()) {
        let Ok(import) = read(text.as_bytes(), &Origin::of("x"), &mut |_, _, _| {}) else {
            return Ok(());
        };
        for run in &import.runs {
            prop_assert!(run.totals.elapsed_s.is_finite());
            let imported = run.imported.as_ref().unwrap();
            prop_assert!(imported.figures.iter().all(|f| f.value.is_finite() && f.line > 0));
        }
    }

    #[test]
    fn a_cut_output_is_at_most_one_run_and_the_rest_another(at in 0..SYSBENCH_1.len()) {
        let cut = &SYSBENCH_1.as_bytes()[..at];
        prop_assert!(runs(cut) <= 1);
        let joined = [cut, b"\n", SYSBENCH_1.as_bytes()].concat();
        prop_assert!((1..=2).contains(&runs(&joined)));
    }
}

/// A document, and how many bytes of it were read.
struct Counted<'t> {
    bytes: &'t [u8],
    read: &'t Cell<usize>,
}

impl Read for Counted<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.read.set(self.read.get() + count);
        Ok(count)
    }
}

#[test]
fn lines_that_may_be_a_table_are_not_kept_without_end() {
    for line in ["------- -- --\n", "| a | b |\n"] {
        let text = String::from("threads 16 32\n") + &line.repeat(12_000);
        let (count, mut first) = (Cell::new(0), None);
        let from = Counted {
            bytes: text.as_bytes(),
            read: &count,
        };
        let mut seen = |line: u64| {
            if line > 1 {
                first.get_or_insert(count.get());
            }
        };
        read(from, &Origin::of("x"), &mut |line, _, _| seen(line)).unwrap();
        assert!(first.unwrap() < text.len(), "{line}");
    }
}

#[test]
fn outputs_put_together_are_as_many_runs() {
    let another = |n: u32| SYSBENCH_1.replace("70.25", &format!("7{n}.25"));
    let many: String = (0..7).map(another).collect();
    assert_eq!(runs(many.as_bytes()), 7);
}

#[test]
fn a_document_with_more_runs_than_can_be_kept_is_refused_by_its_line() {
    let one = "sysbench 1.0.20 (using system LuaJIT)\nSQL statistics:\n    transactions: 600 (10.00 per sec.)\n";
    let read = |runs: usize| {
        let text = one.repeat(runs);
        tidemark_import::read(text.as_bytes(), &Origin::of("a.txt"), &mut |_, _, _| {})
    };
    assert_eq!(read(20_000).unwrap().runs.len(), 20_000);
    let refused = read(20_002).unwrap_err().to_string();
    assert!(refused.contains("more than 20000 runs"), "{refused}");
    assert!(refused.contains("by line 60004 "), "{refused}");
}
