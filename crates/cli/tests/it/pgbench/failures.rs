//! What fails, and what a warm-up leaves out, beside the real pgbench.

use super::{Bench, stated};

fn with_one_row(purpose: &str) -> Bench {
    let bench = Bench::new(purpose);
    bench.database.query("CREATE TABLE one (n int)").unwrap();
    bench.database.query("INSERT INTO one VALUES (0)").unwrap();
    bench
}

#[test]
fn a_lock_that_is_not_to_be_had_ends_the_client() {
    let bench = with_one_row("pgbench_nowait");
    bench.script(
        "nowait.sql",
        "BEGIN;\nSELECT n FROM one FOR UPDATE NOWAIT;\n\\sleep 200 ms\nEND;\n",
    );
    let line = "-n -c 4 -t 3 -f nowait.sql --max-tries=10";
    for said in [bench.real(line), bench.run(line)] {
        assert_ne!(said.code, Some(0), "{said:?}");
        assert!(said.err.contains("could not obtain lock"), "{said:?}");
    }
}

#[test]
fn what_failed_in_the_warm_up_is_in_no_figure() {
    let bench = with_one_row("pgbench_warm_up");
    bench.script(
        "clash.sql",
        "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT n FROM one;\n\\sleep 2 ms\n\
         UPDATE one SET n = n + 1;\nEND;\n",
    );
    let said =
        bench.ok("-n -c 4 -T 2 --warmup=2 -f clash.sql --failures-detailed -l --log-prefix=w -r");
    let failed = stated(&said.out, "number of serialization failures");
    let failed: i64 = failed.split(' ').next().unwrap().parse().unwrap();
    assert!(failed > 50, "{said:?}");
    let mut lines = said.out.lines();
    let command = lines.find(|line| line.contains("UPDATE one")).unwrap();
    let failures: i64 = command.split_whitespace().nth(1).unwrap().parse().unwrap();
    let log = std::fs::read_dir(bench.dir.path()).unwrap();
    let mut logs = log.map(|file| file.unwrap().path());
    let log = logs
        .find(|path| path.to_str().unwrap().contains("/w."))
        .unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    let logged = log
        .lines()
        .filter(|line| line.contains("serialization"))
        .count() as i64;
    // The counts are not of one moment.
    assert!(
        (failures - failed).abs() <= 20 && (logged - failed).abs() <= 20,
        "{failures} {logged} {said:?}"
    );
    // A client's transactions are numbered in the order in which they ended, whatever came of them.
    for client in ["0", "1", "2", "3"] {
        let of = log.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let mut ended: Vec<[u64; 3]> = of
            .filter(|cells| cells[0] == client)
            .map(|cells| [cells[4], cells[5], cells[1]].map(|cell| cell.parse().unwrap()))
            .collect();
        ended.sort_unstable();
        let is_next = |w: &[[u64; 3]]| w[1][2] == w[0][2] + 1;
        assert!(
            ended.len() > 20 && ended.windows(2).all(is_next),
            "{ended:?}"
        );
    }
}
