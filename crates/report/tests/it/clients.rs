//! Runs that several clients made.

use super::common::load::closed;
use super::common::many::{Cell, document, record};
use tidemark_core::record::*;
use tidemark_report::{Lang, client_table, html, markdown, text};

fn of_three() -> RunRecord {
    let mut record = closed();
    let client = |index: u32, state| ClientPart {
        name: format!("client-{index}"),
        index,
        host: ClientHost {
            hostname: format!("=host{index}"),
            cores: 4,
            ..ClientHost::default()
        },
        sessions: 20,
        state,
        elapsed_s: 60.0,
        all: TypeStats {
            count: 600,
            ..record.totals.all.clone()
        },
        usage: ClientUsage {
            cpu_user_s: 60.0,
            seconds: Some(60.0),
            ..ClientUsage::default()
        },
        start_late_ms: Some(0.25),
        clock_error_ms: Some(0.125),
        ..ClientPart::default()
    };
    let mut lost = client(1, ClientState::Lost("no heartbeat for 2 s".into()));
    lost.missing = vec![MissingSpan {
        start_ms: 30_000,
        length_ms: 30_000.0,
        sessions: 20,
    }];
    let mut absent = client(2, ClientState::Absent);
    absent.all = TypeStats::default();
    (absent.elapsed_s, absent.start_late_ms) = (0.0, None);
    record.clients = vec![client(0, ClientState::Finished), lost, absent];
    record
}

#[test]
fn every_client_has_a_row_in_every_form() {
    let record = of_three();
    for (lang, title, lost, absent) in [
        (
            Lang::En,
            "Clients",
            "lost: no heartbeat for 2 s",
            "did not begin",
        ),
        (Lang::Zh, "各客户端", "失联：no heartbeat for 2 s", "未开始"),
    ] {
        for told in [
            text(&record, lang).unwrap(),
            markdown(&record, lang).unwrap(),
            html(&record, lang).unwrap(),
        ] {
            for wanted in [title, "client-0", "=host1", lost, absent, "0.125"] {
                assert!(told.contains(wanted), "{wanted}: {told}");
            }
        }
    }
    // One client alone is told as before.
    let alone = text(&closed(), Lang::En).unwrap();
    assert!(!alone.contains("Clock ±"), "{alone}");
}

#[test]
fn clients_are_a_table_for_other_programs() {
    let record = of_three();
    let table = client_table(&record).unwrap();
    let lines: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines.iter().all(|line| line.len() == lines[0].len()),
        "{table}"
    );
    let cell = |row: usize, name: &str| {
        let column = lines[0].iter().position(|head| *head == name).unwrap();
        lines[row][column]
    };
    assert_eq!(
        (cell(1, "client"), cell(1, "host")),
        ("client-0", "'=host0")
    );
    assert_eq!(
        (cell(1, "transactions_per_s"), cell(1, "cpu_percent")),
        ("10", "25")
    );
    assert_eq!(cell(1, "missing_s"), "0");
    assert_eq!((cell(2, "state"), cell(2, "missing_s")), ("lost", "30"));
    assert_eq!(
        (
            cell(3, "state"),
            cell(3, "p95_ms"),
            cell(3, "start_late_ms")
        ),
        ("absent", "", "")
    );
    assert_eq!(client_table(&closed()).unwrap().lines().count(), 1);
}

#[test]
fn the_overview_says_how_many_clients_and_users_made_a_load() {
    let one = |threads: usize, number: u64| {
        let cell = Cell {
            workload: "oltp_read_write",
            threads,
            factors: &[],
            transactions_per_s: 20.0 * threads as f64,
            seconds: 6,
        };
        record(&cell, 1, number)
    };
    let mut records = [one(4, 1), one(8, 2)];
    let alone = document("one", &records).markdown(Lang::En).unwrap();
    assert!(!alone.contains("| Users in all |"), "{alone}");
    records[1].clients = of_three().clients;
    let three = document("three", &records).markdown(Lang::En).unwrap();
    assert!(three.contains("| Clients | Users in all |"), "{three}");
    assert!(
        three.contains("| 8 | 3 | 8 |") && three.contains("| 4 | 1 | 4 |"),
        "{three}"
    );
}

/// Eight users by one, two and three clients, with so many repeats of each.
fn by_clients(repeats: u32, tps: [f64; 3]) -> Vec<RunRecord> {
    by_clients_each(&tps.map(|tps| vec![tps; repeats as usize]))
}

/// The same with the rate of each repeat.
fn by_clients_each(tps: &[Vec<f64>]) -> Vec<RunRecord> {
    let mut records = Vec::new();
    for (count, each) in (1..).zip(tps) {
        let clients = format!("{count}");
        for (repeat, tps) in (1..).zip(each.iter().copied()) {
            let cell = Cell {
                workload: "oltp_read_write",
                threads: 8,
                factors: &[("clients", &clients)],
                transactions_per_s: tps,
                seconds: 8,
            };
            let mut one = record(&cell, repeat, records.len() as u64);
            let all = one.totals.all.count;
            let part = |index: u32| ClientPart {
                name: format!("client-{index}"),
                index,
                host: one.client.clone(),
                sessions: 8 / count,
                state: ClientState::Finished,
                elapsed_s: one.totals.elapsed_s,
                all: TypeStats {
                    count: all / count as u64,
                    ..TypeStats::default()
                },
                ..ClientPart::default()
            };
            if count > 1 {
                one.clients = (0..count as u32).map(part).collect();
            }
            records.push(one);
        }
    }
    records
}

#[test]
fn the_change_beside_two_throughputs_is_theirs() {
    // The mean of the first three is 467, their geometric mean 400.
    let apart = [vec![200.0, 400.0, 800.0], vec![400.0, 400.0, 400.0]];
    let many = document("clients", &by_clients_each(&apart));
    let en = many.markdown(Lang::En).unwrap();
    let figure = |before: &str| -> f64 {
        let (_, after) = en.split_once(before).unwrap_or_else(|| panic!("{en}"));
        let digits: String = after.chars().take_while(|c| *c != ' ').collect();
        digits.parse().unwrap()
    };
    let (one, two) = (figure("one client made "), figure("; 2 clients made "));
    assert!((two / one - 1.0).abs() < 0.05, "{one}, {two}: {en}");
    assert!(
        en.contains(" These are geometric means of the repeats."),
        "{en}"
    );
    let zh = many.markdown(Lang::Zh).unwrap();
    assert!(zh.contains("以上为各次重复的几何平均值。"), "{zh}");
}

#[test]
fn it_is_said_whether_one_client_sufficed() {
    let told = |records: &[RunRecord]| {
        let many = document("clients", records);
        [Lang::En, Lang::Zh].map(|lang| many.markdown(lang).unwrap())
    };
    let [en, zh] = told(&by_clients(6, [400.0, 400.0, 400.0]));
    assert!(
        en.contains(": one client sufficed. With 8 users in all, one client made"),
        "{en}"
    );
    assert!(
        en.contains("; 3 clients made ") && en.contains("95% interval"),
        "{en}"
    );
    assert!(
        zh.contains("：单个客户端足够。并发用户总数同为 8 时"),
        "{zh}"
    );
    let [en, zh] = told(&by_clients(3, [200.0, 300.0, 400.0]));
    assert!(
        en.contains(": one client was the limit. With 8 users"),
        "{en}"
    );
    assert!(zh.contains("：单个客户端是瓶颈。"), "{zh}");
    // Short single runs tell nothing.
    let [en, _] = told(&by_clients(1, [200.0, 300.0, 400.0]));
    assert!(
        en.contains(": whether one client sufficed is not shown."),
        "{en}"
    );
    assert!(en.contains("not enough data for an interval"), "{en}");
    // Where all had one client, or none had, there is nothing to say.
    let alone = by_clients(2, [200.0, 300.0, 400.0]);
    let [en, _] = told(&alone[..2]);
    assert!(!en.contains("one client"), "{en}");
    let [en, _] = told(&alone[2..]);
    assert!(
        !en.contains("one client s") && !en.contains("one client w"),
        "{en}"
    );
}
