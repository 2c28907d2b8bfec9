//! The steps that studies make.

use super::common::{Known, plan, study};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tidemark_study::{Commands, JobKind, Reload, StudyPlan};

const HEAD: &str = "name = \"s\"\ntime = \"5s\"\nwarmup = \"2s\"\n";
const TARGET: &str = "[[target]]\nname = \"a\"\nurl = \"mysql://u:geheim@h/db\"\n";

fn commands(plan: &StudyPlan) -> Vec<String> {
    plan.steps.iter().map(|s| s.words.join(" ")).collect()
}

#[test]
fn each_family_has_its_command_lines() {
    let text = format!(
        "{HEAD}price = {{ total = 100.5, currency = \"CNY\" }}\n{TARGET}session = {{ a = 1 }}\n\
         [[workload]]\nname = \"oltp_read_only\"\noptions = {{ table-size = 10, range-size = 5 }}\n\
         load = {{ threads = 4, rates = 100 }}\n\
         [[workload]]\nname = \"tpcc\"\noptions = {{ warehouses = 2, wait = true, parts = 2 }}\n\
         load = {{ terminals = 20, connections = 5 }}\ntime = 90\n\
         [[workload]]\nname = \"workloada\"\noptions = {{ recordcount = 1_000 }}\n"
    );
    let (_, plan) = plan(&text);
    let url = "--target=mysql://u:***@h/db";
    assert_eq!(
        commands(&plan),
        [
            format!(
                "tidemark sysbench oltp_read_only {url} --table-size=10 --threads=4 --set-session=a=1 --keep-loaded prepare"
            ),
            format!(
                "tidemark sysbench oltp_read_only {url} --table-size=10 --range-size=5 --threads=4 --rate=100 --time=5 --warmup-time=2 --set-session=a=1 run"
            ),
            format!(
                "tidemark tpcc {url} --warehouses=2 --parts=2 --threads=4 --set-session=a=1 --keep-loaded prepare"
            ),
            format!(
                "tidemark tpcc {url} --warehouses=2 --wait=on --threads=20 --connections=5 --time=90s --warmup=2s --price=100.5 CNY --set-session=a=1 run"
            ),
            format!(
                "tidemark ycsb load {url} -P workloada -p recordcount=1000 --threads=4 --set-session=a=1 --keep-loaded"
            ),
            format!(
                "tidemark ycsb run {url} -P workloada -p operationcount=0 -p recordcount=1000 --threads=1 --time=5s --warmup=2s --set-session=a=1"
            ),
        ]
    );
}

#[test]
fn tpc_h_has_no_warm_up_and_a_time_of_its_own_alone() {
    for (time, said) in [("", ""), ("time = \"1500ms\"", " --time=1500000us")] {
        let text = format!(
            "{HEAD}{TARGET}[[workload]]\nname = \"tpch\"\noptions = {{ sf = 0.1 }}\n{time}\n"
        );
        let (_, plan) = plan(&text);
        let run = plan.steps[1].words.join(" ");
        let url = "--target=mysql://u:***@h/db";
        assert_eq!(
            run,
            format!("tidemark tpch {url} --sf=0.1 --threads=1{said} run")
        );
    }
}

#[test]
fn data_are_loaded_when_the_file_says_so() {
    let with = |reload: &str| {
        let text = format!(
            "{HEAD}reload = \"{reload}\"\nrepeats = 2\n{TARGET}\
             [[workload]]\nname = \"oltp_read_only\"\n[[workload]]\nname = \"oltp_insert\"\n\
             [[factor]]\nname = \"size\"\nvalues = [{{ label = 1, options = {{ tables = 1 }} }}, \
             {{ label = 2, options = {{ tables = 2 }} }}]\n"
        );
        let (_, plan) = plan(&text);
        let kinds: String = plan.steps.iter().map(|s| &s.kind.word()[..1]).collect();
        (kinds, commands(&plan))
    };
    // Four cells, twice each; each size once.
    let (kinds, words) = with("never");
    assert_eq!(kinds, "lrrrrlrrrr");
    assert!(words[0].contains("--tables=1 ") && words[0].contains("--keep-loaded prepare"));
    assert!(words[5].contains("--tables=2 ") && words[5].contains("--keep-loaded prepare"));
    let (kinds, words) = with("per-workload");
    assert_eq!(kinds, "lrrlrrlrrlrr");
    assert!(!words[0].contains("--replace") && !words[0].contains("--keep-loaded"));
    // What it loaded itself the load tells by what is in the database.
    assert!(words.iter().all(|w| !w.contains("--replace")), "{words:?}");
    let (kinds, words) = with("per-run");
    assert_eq!(kinds, "lr".repeat(8));
    assert!(words.iter().all(|w| !w.contains("--replace")), "{words:?}");
    // Only a file that gives tables away replaces any other.
    let (kinds, words) = with("per-run\"\nexisting = \"replace");
    let loads = kinds.chars().zip(&words).filter(|(kind, _)| *kind == 'l');
    assert!(
        loads.clone().all(|(_, w)| w.contains("--replace")),
        "{words:?}"
    );
}

#[test]
fn a_factor_holds_when_and_where_it_says() {
    let text = format!(
        "{HEAD}{TARGET}[[workload]]\nname = \"oltp_read_only\"\n[[workload]]\nname = \"oltp_insert\"\n\
         [[factor]]\nname = \"mode\"\nduring = \"load\"\nvalues = [\
         {{ label = \"x\", set-global = {{ m = \"x\" }}, session = {{ t = true }} }}]\n\
         [[factor]]\nname = \"rtt\"\nworkloads = [\"oltp_insert\"]\nvalues = [\
         {{ label = \"20\", inject-rtt = \"20ms\" }}, {{ label = \"0\", inject-rtt = 0 }}]\n"
    );
    let (_, plan) = plan(&text);
    let cells: Vec<&str> = plan.steps.iter().map(|s| s.cell.as_str()).collect();
    assert_eq!(
        cells,
        [
            "a/sbtest m=x t=ON",
            "a/oltp_read_only/mode=x/threads=1",
            "a/oltp_insert/mode=x/rtt=20/threads=1",
            "a/oltp_insert/mode=x/rtt=0/threads=1",
        ]
    );
    let of = |seq: usize| &plan.steps[seq];
    assert_eq!(of(0).global, [("m".to_string(), "x".to_string())]);
    assert!(of(0).words.contains(&"--set-session=t=ON".to_string()));
    assert!(of(1).global.is_empty());
    assert!(of(2).words.contains(&"--inject-rtt=20ms".to_string()));
    assert!(of(3).words.contains(&"--inject-rtt=0".to_string()));
    assert_eq!(of(2).factors["rtt"], "20");
    assert_eq!(of(2).load, Some(0));
}

#[test]
fn a_factor_may_name_the_targets() {
    let text = format!(
        "{HEAD}[[workload]]\nname = \"oltp_read_only\"\n[[factor]]\nname = \"version\"\nvalues = [\
         {{ label = \"old\", target = \"up:mariadb\" }}, {{ label = 11.4, target = \"mysql://h/d\" }}]\n"
    );
    let (_, plan) = plan(&text);
    let names: Vec<&str> = plan.places.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["old", "11.4"]);
    let cells: BTreeSet<&str> = plan.steps.iter().map(|s| s.cell.as_str()).collect();
    assert!(
        cells.contains("oltp_read_only/version=11.4/threads=1"),
        "{cells:?}"
    );
    assert!(cells.contains("old/sbtest"), "{cells:?}");
}

#[test]
fn a_plan_tells_no_password_for_debugging() {
    let text = format!("{HEAD}{TARGET}[[workload]]\nname = \"oltp_read_only\"\n");
    let (study, plan) = plan(&text);
    assert!(!format!("{study:?}{plan:?}").contains("url: \"mysql://u:geheim"));
}

#[test]
fn a_search_sets_its_own_length() {
    let text = format!(
        "{HEAD}{TARGET}[[workload]]\nname = \"oltp_read_only\"\noptions = {{ find-max = \"p99 < 20ms\" }}\n"
    );
    let (_, plan) = plan(&text);
    let run = plan.steps[1].words.join(" ");
    assert!(
        run.contains("--find-max=p99 < 20ms") && !run.contains("--time="),
        "{run}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_matrix_is_whole_and_its_order_can_be_repeated(
        targets in 1usize..3,
        workloads in prop::sample::subsequence(
            vec!["oltp_read_only", "oltp_insert", "tpcc", "workloada", "bulk_insert"], 1..4),
        factors in prop::collection::vec((1usize..4, any::<bool>()), 0..3),
        threads in prop::collection::btree_set(1u64..500, 1..4),
        rates in 0usize..3,
        repeats in 1u32..4,
        reload in prop::sample::select(vec!["never", "per-workload", "per-run"]),
        seed in any::<u32>(),
    ) {
        let text = |order: &str, seed: u32| {
            let mut text = format!("{HEAD}repeats = {repeats}\nreload = \"{reload}\"\norder = \"{order}\"\nseed = {seed}\n");
            let threads: Vec<String> = threads.iter().map(ToString::to_string).collect();
            text += &format!("[load]\nthreads = [{}]\n", threads.join(", "));
            if rates > 0 {
                let rates: Vec<String> = (1..=rates).map(|r| (r * 100).to_string()).collect();
                text += &format!("rates = [{}]\n", rates.join(", "));
            }
            for t in 0..targets {
                text += &format!("[[target]]\nname = \"t{t}\"\nurl = \"mysql://h{t}/d\"\n");
            }
            for w in &workloads {
                text += &format!("[[workload]]\nname = \"{w}\"\n");
            }
            for (f, (values, shapes)) in factors.iter().enumerate() {
                let option = ["table-size", "recordcount", "warehouses"][f];
                let option = if *shapes { option } else { "range-size" };
                let values: Vec<String> = (0..*values)
                    .map(|v| format!("{{ label = \"v{v}\", options = {{ {option} = {} }} }}", v + 1))
                    .collect();
                text += &format!("[[factor]]\nname = \"f{f}\"\nvalues = [{}]\n", values.join(", "));
            }
            text
        };
        let given = plan(&text("given", seed)).1;
        let shuffled = plan(&text("shuffled", seed)).1;
        let of_factors: usize = factors.iter().map(|(values, _)| *values).product();
        let cells = targets * workloads.len() * of_factors * threads.len() * rates.max(1);
        prop_assert_eq!(given.cells, cells);
        prop_assert_eq!(given.runs(), cells * repeats as usize);
        // Every place of the matrix once.
        let runs = |plan: &StudyPlan| {
            let runs = plan.steps.iter().filter(|s| s.kind == JobKind::Run);
            runs.map(|s| (s.cell.clone(), s.repeat)).collect::<Vec<_>>()
        };
        let unique: BTreeSet<_> = runs(&given).into_iter().collect();
        prop_assert_eq!(unique.len(), given.runs());
        let keys: BTreeSet<_> = unique.iter().map(|(cell, _)| cell.clone()).collect();
        prop_assert_eq!(keys.len(), cells);
        // A shuffled order is a permutation, and the same for its seed.
        let mut sorted = (runs(&given), runs(&shuffled));
        sorted.0.sort();
        sorted.1.sort();
        prop_assert_eq!(sorted.0, sorted.1);
        prop_assert_eq!(&plan(&text("shuffled", seed)).1, &shuffled);
        for plan in [&given, &shuffled] {
            // What a run finds in its tables is what its load left there last.
            let mut holds: std::collections::BTreeMap<&str, usize> = Default::default();
            let mut used = BTreeSet::new();
            for (seq, step) in plan.steps.iter().enumerate() {
                match step.kind {
                    JobKind::Load => { holds.insert(&step.tables, seq); }
                    JobKind::Run => {
                        prop_assert_eq!(holds.get(step.tables.as_str()).copied(), step.load);
                        used.insert(step.load);
                    }
                }
            }
            // No load is for nothing, and none is told to replace what is not this study's.
            prop_assert_eq!(used.len(), plan.steps.len() - plan.runs());
            let replaces = |s: &tidemark_study::PlannedStep| s.words.contains(&"--replace".to_string());
            prop_assert!(!plan.steps.iter().any(replaces));
            if reload == "never" {
                let loads = plan.steps.iter().filter(|s| s.kind == JobKind::Load);
                let names: BTreeSet<_> = loads.map(|s| (&s.cell, &s.tables)).collect();
                prop_assert_eq!(names.len(), plan.steps.len() - plan.runs(), "each data once");
            }
        }
    }
}

#[test]
fn the_file_decides_how_a_study_is_made() {
    let study = study(&format!(
        "{HEAD}reload = \"per-run\"\n{TARGET}[[workload]]\nname = \"tpcc\"\n"
    ));
    assert_eq!(study.reload, Reload::PerRun);
    assert!(Known.takes(
        study.workloads[0].family,
        tidemark_study::JobKind::Run,
        "wait"
    ));
}
