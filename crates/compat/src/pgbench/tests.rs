use super::*;

fn summary() -> Summary {
    Summary {
        scripts: vec![ScriptResult {
            name: "<builtin: select only>".into(),
            weight: 1,
            ..ScriptResult::default()
        }],
        scale: 3,
        mode: "prepared".into(),
        clients: 4,
        threads: 2,
        max_tries: 1,
        length: Length::Transactions(10),
        elapsed_s: 2.0,
        counts: Counts {
            done: 40,
            ..Counts::default()
        },
        failures_detailed: false,
        above_limit: None,
        latency: None,
        lag: None,
        connection_ms: 1.5,
        reconnects: false,
        per_command: false,
    }
}

#[test]
fn a_summary_has_pgbenchs_lines() {
    assert_eq!(
        summary().to_string(),
        "transaction type: <builtin: select only>\nscaling factor: 3\nquery mode: prepared\n\
         number of clients: 4\nnumber of threads: 2\nmaximum number of tries: 1\n\
         number of transactions per client: 10\n\
         number of transactions actually processed: 40/40\n\
         number of failed transactions: 0 (0.000%)\nlatency average = 200.000 ms\n\
         initial connection time = 1.500 ms\n\
         tps = 20.000000 (without initial connection time)\n"
    );
}

#[test]
fn retries_limits_schedules_and_scripts_have_theirs() {
    let script = |name: &str, weight| ScriptResult {
        name: name.into(),
        weight,
        counts: Counts {
            done: 20,
            retried: 1,
            retries: 3,
            ..Counts::default()
        },
        latency: Moments {
            mean_ms: 1.0,
            stddev_ms: 0.5,
        },
        commands: vec![CommandResult {
            line: "END;".into(),
            mean_ms: 0.25,
            failures: 1,
            retries: 2,
        }],
    };
    let text = Summary {
        scripts: vec![script("a.sql", 3), script("b.sql", 1)],
        max_tries: 5,
        length: Length::Seconds(2),
        counts: Counts {
            done: 40,
            serialization: 6,
            deadlock: 4,
            retried: 2,
            retries: 6,
            skipped: 50,
        },
        failures_detailed: true,
        above_limit: Some((5.0, 10)),
        latency: Some(Moments {
            mean_ms: 2.0,
            stddev_ms: 1.0,
        }),
        lag: Some((0.5, 3.25)),
        reconnects: true,
        per_command: true,
        ..summary()
    }
    .to_string();
    for line in [
        "transaction type: multiple scripts",
        "duration: 2 s",
        "number of transactions actually processed: 40",
        "number of failed transactions: 10 (10.000%)",
        "number of serialization failures: 6 (6.000%)",
        "number of deadlock failures: 4 (4.000%)",
        "number of transactions retried: 2 (2.000%)",
        "total number of retries: 6",
        "number of transactions skipped: 50 (50.000%)",
        "number of transactions above the 5.0 ms latency limit: 10/40 (25.000%)",
        "latency stddev = 1.000 ms",
        "rate limit schedule lag: avg 0.500 (max 3.250) ms",
        "average connection time = 1.500 ms",
        "tps = 20.000000 (including reconnection times)",
        "SQL script 1: a.sql",
        " - weight: 3 (targets 75.0% of total)",
        " - 20 transactions (50.0% of total, tps = 10.000000)",
        " - latency average = 1.000 ms",
        " - statement latencies in milliseconds, failures and retries:",
        "         0.250           1           2  END;",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
}

#[test]
fn progress_and_log_lines_are_pgbenchs() {
    let line = ProgressLine {
        at_s: 5.0,
        is_timestamp: false,
        tps: 1234.56,
        latency: Moments {
            mean_ms: 1.2,
            stddev_ms: 0.3,
        },
        counts: Counts {
            serialization: 2,
            retried: 1,
            retries: 4,
            skipped: 7,
            ..Counts::default()
        },
        lag_ms: Some(0.1),
        may_skip: true,
        may_retry: true,
    };
    assert_eq!(
        line.to_string(),
        "progress: 5.0 s, 1234.6 tps, lat 1.200 ms stddev 0.300, 2 failed, lag 0.100 ms, \
         7 skipped, 1 retried, 4 retries\n"
    );
    let done = LogLine {
        client: 0,
        number: 199,
        ending: Ending::Done(2241),
        script: 0,
        end_us: 1_175_850_568_995_598,
        lag_us: None,
        retries: None,
    };
    assert_eq!(done.to_string(), "0 199 2241 0 1175850568 995598\n");
    let failed = LogLine {
        ending: Ending::Failed("failed"),
        lag_us: Some(5217),
        retries: Some(9),
        ..done
    };
    assert_eq!(
        failed.to_string(),
        "0 199 failed 0 1175850568 995598 5217 9\n"
    );
    let mut sum = Aggregate::new(1_175_850_568, 2, true);
    sum.add(&done);
    sum.add(&LogLine {
        ending: Ending::Failed("deadlock"),
        end_us: 1_175_850_572_000_000,
        retries: Some(3),
        ..done
    });
    assert_eq!(
        sum.to_string(),
        "1175850568 1 2241 5022081 2241 2241 0 0 0 0 0 0 0 0 0\n\
         1175850570 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n\
         1175850572 0 0 0 0 0 0 0 0 0 0 1 3 0 1\n"
    );
}

#[test]
fn moments_are_those_of_the_times() {
    let mut histogram = Histogram::new();
    for ms in [1, 3] {
        histogram.record(std::time::Duration::from_millis(ms));
    }
    let moments = Moments::of(&histogram);
    assert!((moments.mean_ms - 2.0).abs() < 0.01, "{moments:?}");
    assert!((moments.stddev_ms - 1.0).abs() < 0.01, "{moments:?}");
    assert_eq!(Moments::of(&Histogram::new()), Moments::default());
}
