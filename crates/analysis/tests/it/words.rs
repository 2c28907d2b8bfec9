//! What figures of other tools are called in sentences: as their tool prints them, or in words of the
//! reader's language, and never as records name them.

use super::common::{both_languages_use_the_figures, found_in};
use tidemark_analysis::{Figure, Finding};

/// An output whose sum is twice what it should be, as its version prints it.
const SUM: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
Number of threads: 2
SQL statistics:
    transactions:                        696    (347.88 per sec.)
General statistics:
    total time:                          2.0001s
    total number of events:              696
Latency (ms):
         min:                                    1.47
         avg:                                    5.73
         max:                                   19.58
         sum:                                 9996.25
";

fn first(text: &str, rule: &str) -> Finding {
    let found = found_in(text).into_iter().find(|f| f.rule == rule);
    let found = found.unwrap_or_else(|| panic!("no {rule} in {text}"));
    both_languages_use_the_figures(&found);
    found
}

/// What stands in a finding's sentences in this place, in both languages.
fn words(found: &Finding, place: &str) -> (String, String) {
    match found.figure(place) {
        Some(Figure::Text(text)) => (text.clone(), text.clone()),
        Some(Figure::Composed { en, zh }) => (en.clone(), zh.clone()),
        Some(Figure::Words(words)) => (words.en.into(), words.zh.into()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sum_is_called_what_its_tool_calls_it() {
    let called = |text: &str| {
        let found = first(text, "summary-mismatch");
        (words(&found, "name").0, words(&found, "from").0)
    };
    let is = |name: &str, from: &str| (name.to_string(), from.to_string());
    assert_eq!(called(SUM), is("sum", "transactions × avg"));
    let old = SUM.replace("sysbench 1.0.20", "sysbench 0.5").replace(
        "         sum:                                 9996.25",
        "    total time taken by event execution: 9.9963s",
    );
    let name = "total time taken by event execution (ms)";
    assert_eq!(called(&old), is(name, "transactions × avg"));
    let go_tpc = "[Summary] NEW_ORDER - Takes(s): 600.0, Count: 90000, TPM: 9000.0, \
        Sum(ms): 9300000, Avg(ms): 70, 90th(ms): 80, 99th(ms): 90\n";
    assert_eq!(called(go_tpc), is("NewOrder Sum (ms)", "Count × Avg (ms)"));
    let go_ycsb = "READ - Takes(s): 10.0, Count: 1000, OPS: 500.0, Avg(us): 835, Min(us): 1, \
        Max(us): 2000, 99th(us): 1500\n";
    assert_eq!(called(go_ycsb), is("READ OPS", "Count / Takes(s)"));
    let benchbase =
        "Results(nanoSeconds=60000000000, measuredRequests=12345) = 305.75 requests/sec\n";
    assert_eq!(
        called(benchbase),
        is("Throughput", "Measured Requests / Elapsed Time")
    );
    let slap = ",mixed,9.0,1.0,2.0,8,100\n";
    let between = "Minimum number of seconds … Maximum number of seconds";
    assert_eq!(called(slap), is("Average number of seconds", between));
}

#[test]
fn tables_have_no_words_of_a_tool() {
    let found = first("threads,tps,avg,max\n8,100,30,20\n", "impossible-pair");
    let is = |en: &str, zh: &str| (en.to_string(), zh.to_string());
    assert_eq!(
        words(&found, "less"),
        is("mean latency (ms)", "平均延迟（ms）")
    );
    assert_eq!(
        words(&found, "more"),
        is("max latency (ms)", "最大延迟（ms）")
    );
    let clients = first("threads,tps\n96,100 + 110 + 90 = 400\n", "summary-mismatch");
    assert_eq!(words(&clients, "name"), is("TPS", "TPS"));
    let percentiles = first("threads,tps,p95,p99\n8,100,30,20\n", "impossible-pair");
    assert_eq!(words(&percentiles, "less"), is("p95 (ms)", "p95 (ms)"));
}

#[test]
fn what_a_line_states_is_told_with_the_lines_that_contradict_it() {
    let text = super::determined::PGBENCH.replace("50.0 s, 2099.9", "50.0 s, 9099.9");
    let mut all = found_in(&text).into_iter();
    let found = all.find(|f| f.rule == "summary-mismatch" && f.figure("first").is_some());
    let found = found.unwrap();
    both_languages_use_the_figures(&found);
    let line = |begin: &str| {
        let at = text.lines().position(|l| l.starts_with(begin));
        at.unwrap() as u64 + 1
    };
    let of = |place: &str| match found.figure(place) {
        Some(Figure::Count(n)) => *n,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        [of("line"), of("first"), of("last")],
        [
            line("tps ="),
            line("progress: 10.0"),
            line("progress: 60.0")
        ]
    );
    let stated = found.figure("stated");
    assert!(
        matches!(stated, Some(Figure::Number(n)) if *n == 2104.1012),
        "{stated:?}"
    );
}
