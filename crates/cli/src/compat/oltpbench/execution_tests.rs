use super::super::efficiency::no_efficiency;
use super::super::parse::{Invocation, parse};
use super::super::phases::{PhaseAction, of_phase};
use super::*;
use std::time::Duration;
use tidemark_core::{Arrivals, Pacing, Protocol, RunSpec};

const DATABASE: &str = "<dbtype>postgres</dbtype><DBName>d</DBName><username>u</username>";
const WAITS: &str = "<useKeyingTime>true</useKeyingTime><useThinkTime>true</useThinkTime>";

fn work(rate: &str) -> String {
    format!("<work><time>60</time><rate>{rate}</rate><weights>45,43,4,4,4</weights></work>")
}

fn file(inner: &str, works: &str) -> WorkloadFile {
    let works = match works {
        "" => String::new(),
        works => format!("<works>{works}</works>"),
    };
    let text = format!("<parameters>{DATABASE}{inner}{works}</parameters>");
    WorkloadFile::parse(&text).unwrap()
}

fn asked(line: &str, file: &WorkloadFile) -> Result<FileExecution, Failure> {
    let words = format!("--execute -c w.xml {line}");
    let words: Vec<String> = words.split_whitespace().map(Into::into).collect();
    match parse(&words).unwrap() {
        Invocation::Do(options) => execution(&options, file),
        Invocation::Help => panic!("help"),
    }
}

fn execution_of(line: &str, inner: &str, works: &str) -> FileExecution {
    asked(line, &file(inner, works)).unwrap()
}

fn run(phase: &WorkPhase) -> (&OptionValues, &RunSpec, WaitScale) {
    match &phase.doing {
        PhaseAction::Run {
            options,
            spec,
            waits,
            ..
        } => (options, spec, *waits),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_nobody_says_is_the_familys_default() {
    let execution = execution_of("", "", &work("unlimited"));
    assert_eq!((execution.warehouses, execution.terminals), (10, 100));
    assert_eq!((execution.sessions, execution.loaders), (10, 10));
    assert_eq!(execution.options.text("isolation"), "serializable");
    assert_eq!(execution.options.text("foreign-keys"), "on");
    assert_eq!(execution.options.text("delivery"), "inline");
    assert_eq!(execution.ids, [1, 2, 3, 4, 5, 6]);
    let (options, spec, waits) = run(&execution.phases[0]);
    assert_eq!((spec.terminals, spec.sessions), (100, 10));
    assert_eq!(spec.pacing, Pacing::Closed);
    assert_eq!(spec.time, Some(Duration::from_secs(60)));
    assert_eq!(waits, WaitScale::NONE);
    assert_eq!(options.text("wait"), "off");
    assert_eq!(options.text("weight"), "45,43,4,4,4");
    assert_eq!(options.uint("warehouses"), 10);
}

#[test]
fn sessions_are_one_a_warehouse_and_two_hundred_a_node_at_most() {
    let sessions = |line: &str| execution_of(line, "", &work("unlimited")).sessions;
    assert_eq!(sessions("--warehouses=150"), 150);
    assert_eq!(sessions("--warehouses=1000"), 200);
    assert_eq!(sessions("--warehouses=1000 --nodes=a,b,c"), 600);
    assert_eq!(sessions("--warehouses=1000 --num-connections=7"), 7);
    assert_eq!(sessions("--warehouses=2 --num-connections=700"), 20);
}

#[test]
fn the_command_line_counts_before_the_file() {
    let inner = "<scalefactor>3</scalefactor><terminals>12</terminals>\
                 <loaderThreads>2</loaderThreads><randomSeed>5</randomSeed>\
                 <hikariConnectionTimeoutMs>1500</hikariConnectionTimeoutMs>\
                 <isolation>TRANSACTION_READ_COMMITTED</isolation>\
                 <enableForeignKeysAfterLoad>false</enableForeignKeysAfterLoad>";
    let of_file = execution_of("", inner, &work("unlimited"));
    assert_eq!((of_file.warehouses, of_file.terminals), (3, 12));
    assert_eq!(of_file.loaders, 2);
    assert_eq!(of_file.options.text("isolation"), "read-committed");
    assert_eq!(of_file.options.text("foreign-keys"), "off");
    let (_, spec, _) = run(&of_file.phases[0]);
    assert_eq!(spec.seed, 5);
    assert_eq!(spec.connect_timeout, Duration::from_millis(1500));
    let line = "--warehouses=4 --terminals=8 --loaderthreads=1 --seed=9 --connect-timeout=2s \
                --foreign-keys=on --delivery=deferred";
    let given = execution_of(line, inner, &work("unlimited"));
    assert_eq!((given.warehouses, given.terminals), (4, 8));
    assert_eq!(given.loaders, 1);
    assert_eq!(given.options.text("foreign-keys"), "on");
    assert_eq!(given.options.text("delivery"), "deferred");
    let (_, spec, _) = run(&given.phases[0]);
    assert_eq!(spec.seed, 9);
    assert_eq!(spec.connect_timeout, Duration::from_secs(2));
}

#[test]
fn a_client_has_its_part_of_the_warehouses() {
    let line = "--warehouses=5 --start-warehouse-id=6 --total-warehouses=20";
    let execution = execution_of(line, "", &work("unlimited"));
    let options = &execution.options;
    assert_eq!((execution.warehouses, execution.terminals), (5, 50));
    assert_eq!(options.uint("warehouses"), 20);
    assert_eq!(options.uint("first-warehouse"), 6);
    assert_eq!(options.uint("last-warehouse"), 10);
    // 2.1.6.1: the constants of the run are those of its other clients.
    let other = "--warehouses=5 --start-warehouse-id=11 --total-warehouses=20";
    let other = execution_of(other, "", &work("unlimited"));
    let seed = |execution: &FileExecution| run(&execution.phases[0]).1.seed;
    assert_eq!(seed(&execution), seed(&other));
    let said = asked(
        "--warehouses=5 --start-warehouse-id=6",
        &file("", &work("1")),
    );
    let said = said.unwrap_err().to_string();
    assert!(said.contains("--total-warehouses=10"), "{said}");
}

#[test]
fn phases_follow_each_other_as_the_file_has_them() {
    let works = format!(
        "{}<work><time>5</time><rate>disabled</rate><weights>100,0,0,0,0</weights></work>\
         <work arrival=\"poisson\"><time>7</time><warmup>3</warmup><rate>250</rate>\
         <weights>0,0,0,0,100</weights><active_terminals>4</active_terminals></work>",
        work("unlimited")
    );
    let line = "--warmup-time-secs=9 --report=r.html,r.txt --out=record.json -im 250";
    let execution = execution_of(line, "", &works);
    assert_eq!(execution.phases.len(), 3);
    let (options, spec, _) = run(&execution.phases[0]);
    assert_eq!(spec.warmup, Duration::from_secs(9));
    assert_eq!(spec.interval, Duration::from_millis(250));
    assert_eq!(options.text("report"), "r.1.html,r.1.txt");
    assert!(
        matches!(execution.phases[1].doing, PhaseAction::Nothing(t) if t == Duration::from_secs(5))
    );
    let (options, spec, _) = run(&execution.phases[2]);
    assert_eq!(spec.warmup, Duration::from_secs(3));
    assert_eq!(spec.pacing, Pacing::Rate(250.0));
    assert_eq!(spec.arrivals, Arrivals::Poisson);
    assert_eq!((spec.terminals, spec.sessions), (4, 4));
    assert_eq!(options.text("weight"), "0,0,0,0,100");
    assert_eq!(options.text("out"), "record.3.json");
    assert_eq!(
        execution.phases[2].said,
        "Phase 3 of 3: 7 s after 3 s of warm-up, rate 250, weights 0,0,0,0,100"
    );
}

#[test]
fn terminals_that_think_take_a_rate_for_a_limit() {
    // A hundred terminals make 4.76 transactions a second at most.
    let execution = execution_of("", WAITS, &format!("{}{}", work("10000"), work("4")));
    let (options, spec, waits) = run(&execution.phases[0]);
    assert_eq!(spec.pacing, Pacing::Closed);
    assert!(waits.any());
    assert_eq!(
        (options.text("wait"), options.text("wait-scale")),
        ("on", "1")
    );
    let said = &execution.phases[0].said;
    assert!(said.contains("above the 4.8"), "{said}");
    let (options, spec, waits) = run(&execution.phases[1]);
    assert_eq!(spec.pacing, Pacing::Rate(4.0));
    assert_eq!((options.text("wait"), waits), ("off", WaitScale::NONE));
    let said = &execution.phases[1].said;
    assert!(said.contains("without keying or think times"), "{said}");
}

#[test]
fn the_target_is_the_files_or_the_command_lines() {
    let shown = |line: &str| {
        let execution = execution_of(line, "<port>7000</port>", &work("1"));
        execution.target.to_string()
    };
    assert_eq!(shown(""), "postgres://u@127.0.0.1:7000/d");
    assert_eq!(shown("--nodes=a,b:1"), "postgres://u@a:7000,b:1/d");
    let sqlite = execution_of("--target=sqlite:x.db", "", &work("1"));
    assert_eq!(sqlite.target.protocol, Protocol::Sqlite);
    let both = asked("--target=sqlite:x.db --nodes=a", &file("", &work("1")));
    assert!(both.unwrap_err().to_string().contains("use one of them"));
    let said = asked("--nodes=a:b", &file("", &work("1"))).unwrap_err();
    let said = said.to_string();
    assert!(
        said.starts_with("--nodes=a:b: a:b: a port is a number"),
        "{said}"
    );
}

#[test]
fn what_can_not_be_run_is_said_by_the_file() {
    let said = asked("", &file("", "")).unwrap_err().to_string();
    assert!(
        said.starts_with("--config=w.xml: <parameters> has no <works>"),
        "{said}"
    );
    let halves = "<work><time>1</time><rate>1</rate><weights>44.5,43.5,4,4,4</weights></work>";
    let said = asked("", &file("", halves)).unwrap_err().to_string();
    assert!(said.contains("line 1: the weights"), "{said}");
    let odd = "<useKeyingTime>true</useKeyingTime><transactiontypes><transactiontype>\
               <name>NewOrder</name><postExecutionWait>1200</postExecutionWait>\
               </transactiontype></transactiontypes>";
    let works = "<work><time>1</time><rate>unlimited</rate><weights>100</weights></work>";
    let said = asked("", &file(odd, works)).unwrap_err().to_string();
    assert!(said.contains("1 times and think times 0.1 times"), "{said}");
}

#[test]
fn keying_and_thinking_may_be_had_alone() {
    let only = |inner: &str| {
        let execution = execution_of("", inner, &work("unlimited"));
        let (options, _, _) = run(&execution.phases[0]);
        (
            options.text("wait").to_string(),
            options.text("wait-for").to_string(),
        )
    };
    let pair = |wait: &str, only: &str| (wait.to_string(), only.to_string());
    assert_eq!(
        only("<useKeyingTime>true</useKeyingTime>"),
        pair("on", "keying")
    );
    assert_eq!(
        only("<useThinkTime>true</useThinkTime>"),
        pair("on", "think")
    );
    assert_eq!(only(WAITS), pair("on", "both"));
    assert_eq!(only(""), pair("off", "both"));
}

#[test]
fn files_of_phases_differ() {
    assert_eq!(of_phase("a/report.html", 2), "a/report.2.html");
    assert_eq!(of_phase("record", 3), "record.3");
}

#[test]
fn efficiency_is_of_ten_terminals_a_warehouse_with_the_specifications_pauses_and_mix() {
    let said = |inner: &str, weights: &str| {
        let work = work("unlimited").replace("45,43,4,4,4", weights);
        no_efficiency(&execution_of("", inner, &work)).unwrap_or_default()
    };
    let mix = "45,43,4,4,4";
    assert_eq!(said(WAITS, mix), "");
    assert!(said("", mix).contains("no keying or think times"));
    let many = format!("{WAITS}<terminals>101</terminals>");
    assert!(said(&many, mix).contains("more than the 100 of 10 warehouses"));
    assert!(said(WAITS, "100,0,0,0,0").contains("weights 100,0,0,0,0 are not a TPC-C mix"));
}
