//! Tables whose rows and documents whose clients determine each other. We wrote them.

use super::common::found_in;
use tidemark_analysis::Severity;
use tidemark_import::{Origin, read};

fn bad(text: &str) -> Vec<(&'static str, Severity)> {
    let all = found_in(text).into_iter();
    let bad = all.filter(|f| f.severity > Severity::Note);
    bad.map(|f| (f.rule, f.severity)).collect()
}

fn table(heads: &str, rows: &[&str]) -> String {
    let columns = heads.matches('|').count() + 1;
    let mut text = format!("| {heads} |\n|{}\n", "---|".repeat(columns));
    for row in rows {
        text += &format!("| {row} |\n");
    }
    text
}

const SUSPECT: Severity = Severity::Suspect;
const MISMATCH: (&str, Severity) = ("summary-mismatch", Severity::Invalid);

#[test]
fn each_column_of_changes_is_checked_by_its_own_pair() {
    let heads = "threads | v1 TPS | v2 TPS | Change | v1 p95 (ms) | v2 p95 (ms) | Change";
    let clean = table(heads, &["100 | 7045 | 7961 | +13.0% | 2.14 | 1.93 | -9.8%"]);
    assert_eq!(bad(&clean), []);
    assert_eq!(bad(&clean.replace("+13.0%", "+31.0%")), [MISMATCH]);
    assert_eq!(bad(&clean.replace("-9.8%", "-29.8%")), [MISMATCH]);
    // Of the right size, but with the other sign.
    assert_eq!(bad(&clean.replace("+13.0%", "-13.0%")), [MISMATCH]);
    assert_eq!(bad(&clean.replace("-9.8%", "+9.8%")), [MISMATCH]);
    let of =
        |heads: &str, change: &str| bad(&table(heads, &[&format!("8 | 2100 | 1995 | {change}")]));
    for heads in ["v1 TPS | v2 TPS | change", "优化前 TPS | 优化后 TPS | 提升"] {
        let heads = format!("threads | {heads}");
        assert_eq!(of(&heads, "+5%"), [MISMATCH], "{heads}");
        assert_eq!(of(&heads, "-5%"), [], "{heads}");
    }
    // A fall may be stated so, and the newer one may be the first.
    for heads in ["v1 TPS | v2 TPS | 下降", "TiDB TPS | MySQL TPS | diff"] {
        assert_eq!(of(&format!("threads | {heads}"), "+5%"), [], "{heads}");
    }
    let import = read(clean.as_bytes(), &Origin::of("a.md"), &mut |_, _, _| {}).unwrap();
    let options = &import.runs[1].options;
    let values: Vec<&str> = options.values().map(|o| o.value.as_str()).collect();
    assert!(
        values.contains(&"+13.0%") && values.contains(&"-9.8%"),
        "{values:?}"
    );
}

#[test]
fn a_multiple_is_checked_either_way_round() {
    for heads in [
        "threads | v1 TPS | v2 TPS | v2/v1",
        "threads | v1 TPS | v2 TPS | ratio",
        "线程 | v1 TPS | v2 TPS | 加速比",
    ] {
        let clean = table(
            heads,
            &["50 | 8120 | 9744 | 1.2x", "100 | 14355 | 13050 | 1.1x"],
        );
        assert_eq!(bad(&clean), [], "{heads}");
        assert_eq!(bad(&clean.replace("1.2x", "1.4x")), [MISMATCH], "{heads}");
        assert_eq!(bad(&clean.replace("9744", "19744")), [MISMATCH], "{heads}");
    }
    // Machines may be so many.
    let heads = "threads | v1 TPS | v2 TPS | nodes";
    assert_eq!(bad(&table(heads, &["50 | 8120 | 9744 | 3x"])), []);
    // A share that is called a ratio is none of two columns.
    let heads = "threads | v1 TPS | v2 TPS | hit ratio";
    assert_eq!(bad(&table(heads, &["50 | 8120 | 9744 | 99.2%"])), []);
}

#[test]
fn transactions_of_all_rows_have_as_many_statements() {
    let heads = "threads | TPS | QPS";
    let rows = [
        "8 | 812.4 | 16,248",
        "16 | 1,498.2 | 29,964",
        "32 | 2,610.7 | 52,214",
        "64 | 3,905.1 | 78,102",
    ];
    let clean = table(heads, &rows);
    assert_eq!(bad(&clean), []);
    let row = ("summary-mismatch", SUSPECT);
    assert_eq!(bad(&clean.replace("3,905.1", "2,905.1")), [row]);
    assert_eq!(bad(&clean.replace("52,214", "82,214")), [row]);
    // Transactions that are rolled back have statements as well.
    assert_eq!(bad(&clean.replace("78,102", "82,400")), []);
    // Other workloads and systems have other transactions.
    let heads = "workload | threads | TPS | QPS";
    let rows = [
        "read_only | 8 | 1000 | 16000",
        "read_only | 16 | 2000 | 32000",
        "read_write | 16 | 1000 | 20000",
    ];
    assert_eq!(bad(&table(heads, &rows)), []);
    let heads = "database | threads | TPS | QPS";
    let rows = [
        "A | 8 | 1000 | 20000",
        "A | 16 | 2000 | 40000",
        "B | 16 | 2000 | 36000",
    ];
    assert_eq!(bad(&table(heads, &rows)), []);
    // Of two rows neither is known to be right.
    let heads = "threads | TPS | QPS";
    assert_eq!(
        bad(&table(heads, &["8 | 1000 | 20000", "16 | 2000 | 60000"])),
        []
    );
}

#[test]
fn statements_alone_have_their_littles_law() {
    let law = ("littles-law", SUSPECT);
    let heads = "threads | QPS | avg (ms)";
    let of = |workload: &str, rows: &[&str]| format!("# {workload}\n\n{}", table(heads, rows));
    assert_eq!(
        bad(&of(
            "oltp_read_write",
            &["16 | 24000 | 13.3", "32 | 40000 | 16.0"]
        )),
        []
    );
    assert_eq!(bad(&of("oltp_read_write", &["16 | 24000 | 19.3"])), [law]);
    assert_eq!(bad(&of("oltp_point_select", &["64 | 60000 | 1.06"])), []);
    assert_eq!(bad(&of("oltp_point_select", &["64 | 60000 | 1.96"])), [law]);
    // With one statement each the sessions are not busy: they are less so with more.
    assert_eq!(bad(&of("mine", &["32 | 2000 | 8.0"])), [law]);
    // How many statements they have is not known: it is said to be left out.
    let unknown = of("mine", &["16 | 24000 | 13.3"]);
    assert_eq!(bad(&unknown), []);
    let left_out = |text: &str| format!("{:?}", found_in(text)).contains("littles-law");
    assert!(left_out(&unknown));
    assert!(!left_out(&of("oltp_point_select", &["64 | 60000 | 1.06"])));
    // All rows have as many, whatever they are.
    let rows = [
        "16 | 24000 | 13.3",
        "32 | 40000 | 16.0",
        "64 | 60000 | 31.3",
    ];
    assert_eq!(bad(&of("mine", &rows[..2])), []);
    assert_eq!(bad(&of("mine", &rows)), [("summary-mismatch", SUSPECT)]);
}

#[test]
fn the_sessions_of_each_client_fit_its_figures() {
    let heads = "threads | TPS | avg (ms)";
    let clean = table(heads, &["300 | 1010 + 1005 + 998 | 99.0 + 99.5 + 100.2"]);
    assert_eq!(bad(&clean), []);
    let law = ("littles-law", SUSPECT);
    for (from, to) in [
        ("1010", "1210"),
        ("1010", "870"),
        ("99.5", "85.5"),
        ("998", "1198"),
        ("100.2", "115.2"),
    ] {
        assert_eq!(bad(&clean.replace(from, to)), [law], "{to}");
    }
    // Clients may have different numbers of sessions.
    assert_eq!(
        bad(&table(heads, &["300 | 2000 + 1000 | 100.0 + 100.0"])),
        []
    );
}

#[test]
fn clients_in_sections_make_the_total() {
    let client = |n: u32, tps: u32| {
        format!(
            "## 客户端 {n}\n\n{}\n",
            table("线程 | TPS", &[&format!("16 | {tps}")])
        )
    };
    let doc = |total: &str| {
        let sum = table("线程 | 总TPS", &[&format!("32 | {total}")]);
        format!(
            "# 测试\n\n{}{}## 合计\n\n{sum}",
            client(1, 1498),
            client(2, 1496)
        )
    };
    assert_eq!(bad(&doc("2994")), []);
    assert_eq!(bad(&doc("3994")), [MISMATCH]);
    // A table of another number of sessions is none of them.
    assert_eq!(bad(&doc("3994").replace("| 32 |", "| 64 |")), []);
}

#[test]
fn one_value_is_no_column() {
    let heads = "threads | TPS | avg (ms) | p95 (ms)";
    let rows = [
        "8 | 800 | 10.0 | 12.1",
        "16 | 1500 | 12.0 | 10.7",
        "32 | 2500 | 12.8 | 19.0",
    ];
    let rules: Vec<_> = bad(&table(heads, &rows))
        .into_iter()
        .map(|(r, _)| r)
        .collect();
    assert!(!rules.contains(&"wrong-column"), "{rules:?}");
    assert!(rules.contains(&"percentile-below-mean"), "{rules:?}");
    // In every row they are.
    let rows = ["8 | 800 | 12.1 | 10.0", "16 | 1500 | 13.2 | 10.7"];
    let all = bad(&table(heads, &rows));
    assert!(
        all.contains(&("wrong-column", Severity::Invalid)),
        "{all:?}"
    );
}

#[test]
fn a_heading_above_a_table_is_not_of_each_row() {
    let heads = "Threads per client | client 1 TPS | client 2 TPS | Total TPS";
    let rows = ["64 | 1,510 | 1,490 | 3,000", "128 | 2,020 | 1,980 | 4,000"];
    let text = format!("# Two clients, 64 threads each\n\n{}", table(heads, &rows));
    assert_eq!(bad(&text), []);
    assert_eq!(bad(&text.replace("4,000", "4,900")), [MISMATCH]);
}

#[test]
fn a_rate_and_its_latency_in_each_others_place_are_noticed() {
    let clean = "threads,tps,avg,p95\n64,5000,12.8,18.2\n128,5200,24.6,35.1\n";
    assert_eq!(bad(clean), []);
    let rules = |text: &str| -> Vec<&'static str> { bad(text).iter().map(|f| f.0).collect() };
    for heads in [
        "threads,avg,tps,p95",
        "threads,p95,avg,tps",
        "p95,tps,avg,threads",
    ] {
        let text = clean.replace("threads,tps,avg,p95", heads);
        // Sessions are whole numbers.
        let text = match heads.starts_with("p95") {
            true => text.replace("18.2", "18").replace("35.1", "35"),
            false => text,
        };
        assert!(
            rules(&text).contains(&"wrong-column"),
            "{heads}: {:?}",
            bad(&text)
        );
    }
}

#[test]
fn new_orders_are_a_part_of_all_transactions() {
    let of = |nopm: u32, tpm: u32| {
        format!("Vuser 1:TEST RESULT : System achieved {nopm} NOPM from {tpm} PostgreSQL TPM\n")
    };
    assert_eq!(bad(&of(12_345, 28_765)), []);
    let invalid = ("impossible-pair", Severity::Invalid);
    assert_eq!(bad(&of(28_765, 12_345)), [invalid]);
    // The counter's lines are no result.
    let text = format!("Vuser 1:RUNNING\n0 PostgreSQL tpm\n{}", of(12_345, 28_765));
    assert_eq!(bad(&text), []);
}
