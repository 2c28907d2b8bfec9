//! A command line's job, written, read and put into options again, is the same job.

use super::Adapter;
use super::exec::{adapters, order};
use crate::plan::load_spec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use tidemark_core::{Job, JobKind, Source};
use tidemark_workloads::Definition;

type Case = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// Options with values that can be had together, by tool and workload.
const CASES: &[Case] = &[
    (
        "sysbench",
        "oltp_read_write",
        &[
            ("threads", "7"),
            ("connections", "3"),
            ("think-time", "exp:1500ms"),
            ("time", "0"),
            ("events", "1M"),
            ("warmup-time", "5"),
            ("table-size", "100K"),
            ("rand-type", "zipfian"),
            ("rand-zipfian-exp", "0.75"),
            ("report-interval", "2"),
            ("percentile", "50,99.9"),
            ("report-checkpoints", "30,60"),
            ("forced-shutdown", "on"),
            ("reconnect", "100"),
            ("skip-trx", "on"),
            ("validate", "on"),
            ("histogram", "on"),
            ("inject-rtt", "1500us"),
            ("statement-timeout", "90s"),
            ("db-ps-mode", "disable"),
            ("set-session", "a=1;b='x y'"),
            ("on-disconnect", "fail"),
            ("scheduling", "normal"),
            ("executors", "1"),
            ("busy-poll", "0"),
            ("rand-seed", "9223372036854775807"),
            ("out", "a b.json"),
            ("report", "a.html,b.md"),
            ("lang", "zh"),
            ("metrics", "9090"),
            ("observe", "client-host,server-status"),
            ("observe-host", "http://db1:9100/metrics"),
            (
                "observe-nodes",
                "http://db1:10080/metrics,http://db2:20180/metrics",
            ),
            ("observe-prometheus", "https://prometheus:9090"),
            ("observe-ca", "/ca.pem"),
            ("topology", "topology.yaml"),
            ("force", "on"),
            ("strict", "on"),
        ],
    ),
    (
        "sysbench",
        "oltp_point_select",
        &[
            ("rate", "1000..3000:1000"),
            ("rate-hold", "2500ms"),
            ("arrivals", "constant"),
            ("max-backlog", "7"),
            ("tables", "3"),
        ],
    ),
    (
        "sysbench",
        "oltp_write_only",
        &[
            ("find-max", "p99 < 20ms and errors < 0.1%"),
            ("find-hold", "3s"),
            ("find-confirm", "4s"),
            ("find-from", "120.5"),
            ("find-precision", "0.025"),
        ],
    ),
    (
        "tpcc",
        "tpcc",
        &[
            ("warehouses", "4"),
            ("threads", "40"),
            ("connections", "8"),
            ("wait", "on"),
            ("time", "1h30m"),
            ("count", "500"),
            ("warmup", "10s"),
            ("isolation", "serializable"),
            ("ignore-error", "on"),
            ("max-procs", "2"),
            ("weight", "40,40,10,5,5"),
            ("first-warehouse", "2"),
            ("interval", "1500ms"),
            ("output", "json"),
            ("check-all", "on"),
        ],
    ),
    (
        "tpch",
        "tpch",
        &[
            ("sf", "0.1"),
            ("threads", "3"),
            ("test", "full"),
            ("streams", "2"),
            ("refresh", "off"),
            ("seed", "77"),
            ("query-timeout", "10m"),
            ("interval", "0"),
        ],
    ),
    (
        "ycsb",
        "ycsb",
        &[
            ("recordcount", "1000"),
            ("operationcount", "0"),
            ("readproportion", "0.5"),
            ("updateproportion", "0.5"),
            ("requestdistribution", "zipfian"),
            ("threads", "5"),
            ("time", "1m"),
            ("warmup", "2s"),
            ("rate", "250"),
            ("table", "other"),
            ("dataintegrity", "on"),
        ],
    ),
    (
        "pgbench",
        "pgbench",
        &[
            (
                "scripts",
                r#"[{"builtin":"select-only","weight":3},{"file":"f.sql","text":"SELECT :x;"}]"#,
            ),
            ("scale", "7"),
            ("define", "x=1"),
            ("protocol", "prepared"),
            ("max-tries", "3"),
            ("latency-limit", "12.5"),
            ("threads", "8"),
            ("executors", "2"),
            ("rate", "250"),
            ("time", "30"),
            ("warmup", "2"),
            ("transactions", "50"),
            ("progress", "5"),
            ("connect", "on"),
            ("log", "on"),
            ("seed", "77"),
            ("failures-detailed", "on"),
        ],
    ),
    (
        "oltpbench",
        "tpcc",
        &[
            ("warehouses", "4"),
            ("last-warehouse", "4"),
            ("threads", "40"),
            ("time", "60"),
            ("warmup-time-secs", "3"),
            ("isolation", "serializable"),
            ("wait", "on"),
            ("wait-for", "think"),
            ("phase", "2"),
            ("phases", "3"),
            ("transaction-ids", "1,2,3,4,5,6"),
            ("reconnect", "1"),
            ("interval-monitor", "500"),
        ],
    ),
];

fn named(tool: &str, workload: &str) -> (&'static Adapter, &'static Definition) {
    let adapter = adapters().find(|one| one.name == tool).unwrap();
    (adapter, tidemark_workloads::find(workload).unwrap())
}

/// The run of a choice of options, which a command line gave.
fn job(tool: &str, workload: &str, given: &[(&str, &str)]) -> Result<Job, String> {
    job_of(JobKind::Run, tool, workload, given)
}

fn job_of(
    kind: JobKind,
    tool: &str,
    workload: &str,
    given: &[(&str, &str)],
) -> Result<Job, String> {
    let (adapter, definition) = named(tool, workload);
    let mut options = (adapter.defaults)(definition);
    for (name, value) in given.iter().chain(&[("target", "sqlite:a.db")]) {
        options.set(name, value, Source::CommandLine).unwrap();
    }
    let order = (adapter.order)(kind, options, definition, Vec::new());
    order.map(|order| order.job).map_err(|f| f.message)
}

/// Options of every tool that makes loads.
const OF_LOADS: &[(&str, &str)] = &[
    ("replace", "on"),
    ("keep-loaded", "on"),
    ("chunk-rows", "50"),
    ("load-method", "insert"),
];

type Choice = (
    &'static str,
    &'static str,
    Vec<(&'static str, &'static str)>,
);

fn choices() -> impl Strategy<Value = Choice> {
    select(CASES).prop_flat_map(|(tool, workload, options)| {
        let some = subsequence(options.to_vec(), 0..=options.len());
        some.prop_map(move |some| (tool, workload, some))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_job_that_was_written_asks_for_the_same_run((tool, workload, given) in choices()) {
        // Options that miss their companion are refused on the command line already.
        if let Ok(job) = job(tool, workload, &given) {
            let read = Job::from_json(&job.to_json()).unwrap();
            prop_assert_eq!(&read, &job);
            let (_, order) = order(&read, None, &[], false).map_err(|f| TestCaseError::fail(f.message))?;
            prop_assert_eq!(&order.job, &job);
        }
    }

    #[test]
    fn a_load_that_was_written_asks_for_the_same_load(
        (tool, workload, mut given) in choices(),
        of_load in subsequence(OF_LOADS.to_vec(), 0..=OF_LOADS.len()),
    ) {
        given.extend(of_load);
        prop_assume!(named(tool, workload).0.load.is_some());
        // As above.
        if let Ok(job) = job_of(JobKind::Load, tool, workload, &given) {
            prop_assert_eq!(job.kind(), JobKind::Load);
            let read = Job::from_json(&job.to_json()).unwrap();
            prop_assert_eq!(&read, &job);
            let (_, order) = order(&read, None, &[], false).map_err(|f| TestCaseError::fail(f.message))?;
            prop_assert_eq!(&order.job, &job);
            prop_assert_eq!(load_spec(&order.job), load_spec(&job));
        }
    }

    #[test]
    fn a_text_is_a_job_or_refused_with_a_path(cut in 0usize..4000, with in "[\\]\\[{}\",:a-z0-9]{0,3}") {
        let job = job("sysbench", "oltp_read_only", &[]).unwrap().to_json();
        let at = cut.min(job.len());
        let text = format!("{}{with}{}", &job[..at], &job[(at + with.len()).min(job.len())..]);
        match Job::from_json(&text) {
            Ok(job) => prop_assert_eq!(Job::from_json(&job.to_json()), Ok(job)),
            Err(error) => prop_assert!(error.to_string().contains(": "), "{error}"),
        }
    }
}

#[test]
fn every_case_is_taken_whole_or_with_its_companions() {
    for (tool, workload, options) in CASES {
        let job = job(tool, workload, options).unwrap_or_else(|e| panic!("{tool}: {e}"));
        let (_, order) = order(&job, None, &[], false).unwrap_or_else(|e| panic!("{tool}: {e}"));
        assert_eq!(order.job, job);
    }
}

#[test]
fn a_job_that_contradicts_itself_is_refused_with_the_keys_path() {
    let job = job("sysbench", "oltp_read_only", &[]).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = serde_json::to_value(&job).unwrap();
        change(&mut value);
        let read = Job::from_json(&value.to_string()).map_err(|e| e.to_string());
        match read.map(|job| order(&job, None, &[], false)) {
            Err(message) => message,
            Ok(Err(failure)) => failure.message,
            Ok(Ok((_, order))) => panic!("{:?}", order.job),
        }
    };
    type Change = (&'static str, fn(&mut serde_json::Value));
    let changes: [Change; 14] = [
        ("version: 2 is newer", |j| j["version"] = 2.into()),
        ("version: must be a whole number", |j| {
            j["version"] = "1".into();
        }),
        ("load.terminls: unknown key; did you mean terminals?", |j| {
            j["load"]["terminls"] = 4.into();
        }),
        ("load.terminals: ", |j| j["load"]["terminals"] = 0.into()),
        ("load.time: 10 parsecs: must be", |j| {
            j["load"]["time"] = "10 parsecs".into();
        }),
        ("load.sessions", |j| j["load"]["sessions"] = 9.into()),
        ("load.interval: \"2s\" contradicts", |j| {
            j["load"]["interval"] = "2s".into();
        }),
        ("target.url: a job contains no secrets", |j| {
            j["target"]["url"] = "mysql://u:geheim@h/d".into();
        }),
        ("target.password.password: ", |j| {
            j["target"]["password"] = serde_json::json!({"password": "geheim"});
        }),
        ("workload.name: unknown workload oltp_red_only", |j| {
            j["workload"]["name"] = "oltp_red_only".into();
        }),
        ("workload.settings.table-size: ", |j| {
            j["workload"]["settings"]["table-size"] = "many".into();
        }),
        ("workload.settings.tabels: ", |j| {
            j["workload"]["settings"]["tabels"] = 1.into();
        }),
        ("tool.settings.percentile: use text", |j| {
            j["tool"]["settings"]["percentile"] = serde_json::json!([95]);
        }),
        ("tool.name: sysbnch: use", |j| {
            j["tool"]["name"] = "sysbnch".into();
        }),
    ];
    for (said, change) in changes {
        let message = refused(&change);
        assert!(message.contains(said), "{said}: {message}");
        assert!(!message.contains("geheim"), "{message}");
    }
}
