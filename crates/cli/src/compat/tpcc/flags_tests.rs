//! The command line of `tidemark tpcc`.

use super::flags::TOOL;
use super::options_of;
use crate::compat::gotpc::parse::{Invocation, grammar, parse};
use crate::exit::Failure;

fn parsed(line: &str) -> Result<Invocation, Failure> {
    let words: Vec<String> = line.split_whitespace().map(Into::into).collect();
    parse(&TOOL, &words)
}

fn hints(line: &str) -> Vec<String> {
    match parsed(line).unwrap() {
        Invocation::Do { hints, .. } => hints,
        Invocation::Print(text) => panic!("{text}"),
    }
}

#[test]
fn flags_stand_before_and_after_the_command_in_any_form() {
    for line in [
        "--warehouses 4 prepare -T 3",
        "prepare --warehouses=4 -T3",
        "-T=3 --warehouses 4 prep",
        "--terminals 3 prepare --warehouses 9 --warehouses 4",
    ] {
        let options = options_of(line);
        assert_eq!(options.uint("warehouses"), 4, "{line}");
        assert_eq!(options.uint("threads"), 3, "{line}");
    }
    let options = options_of("-H a -H b,c --wait run --report a.md --report b.md");
    assert_eq!(options.list("host"), ["a", "b", "c"]);
    assert_eq!(options.text("report"), "a.md,b.md");
    assert!(options.flag("wait"));
    assert!(!options_of("--wait=false run").flag("wait"));
    assert_eq!(options_of("run -p -x").text("password"), "-x");
}

#[test]
fn defaults_are_go_tpcs() {
    let options = options_of("run");
    for (name, value) in [
        ("host", "127.0.0.1"),
        ("port", "4000"),
        ("user", "root"),
        ("password", ""),
        ("db", "test"),
        ("driver", "mysql"),
        ("threads", "1"),
        ("warehouses", "10"),
        ("parts", "1"),
        ("partition-type", "hash"),
        ("count", "0"),
        ("interval", "10s"),
        ("isolation", "default"),
        ("output", "plain"),
        ("weight", "45,43,4,4,4"),
        ("wait", "off"),
        ("check-all", "off"),
        ("no-check", "off"),
        ("use-fk", "off"),
        ("dropdata", "off"),
        ("ignore-error", "off"),
        ("max-procs", "0"),
    ] {
        assert_eq!(options.text(name), value, "{name}");
    }
}

#[test]
fn every_flag_of_go_tpcs_is_taken_and_idle_ones_are_told() {
    let everywhere = "-D d -H h -P 1 -U u -p x -T 2 -t 1 -S 10080 -d mysql --time 1h30m \
                      --count 9 --dropdata --ignore-error --silence --interval 5s \
                      --isolation 2 --conn-params tls=false --output json --max-procs 2 \
                      --pprof :1 --metrics-addr :2 --base-id b --private-key k --parts 2 \
                      --partition-type 2 --warehouses 4 --check-all";
    let run = "run --wait --max-measure-latency 16s --weight 45,43,4,4,4 \
               --conn-refresh-interval 10s";
    let prepare = "prepare --no-check --use-fk --use-clustered-index --output-type csv \
                   --output-dir x --tables item --retry-count 5 --retry-interval 10s";
    let idle_everywhere = [
        "silence",
        "acThreads",
        "statusPort",
        "pprof",
        "metrics-addr",
        "base-id",
        "private-key",
    ];
    for (line, idle) in [
        (run, &["max-measure-latency", "conn-refresh-interval"][..]),
        (
            prepare,
            &["retry-count", "retry-interval", "use-clustered-index"],
        ),
    ] {
        let said = hints(&format!("{everywhere} {line}"));
        for name in idle_everywhere.iter().chain(idle) {
            let begins = format!("--{name} has no effect: ");
            assert!(
                said.iter().any(|h| h.starts_with(&begins)),
                "{name}: {said:?}"
            );
        }
        assert_eq!(said.len(), idle_everywhere.len() + idle.len(), "{said:?}");
    }
    assert_eq!(hints("run"), Vec::<String>::new());
}

#[test]
fn what_is_wrong_is_named_with_what_is_right() {
    for (line, said) in [
        ("", "no command given; known: prepare, run, check, cleanup"),
        (
            "prepair",
            "unknown command prepair; known: prepare, run, check, cleanup; did you mean prepare?",
        ),
        ("run now", "unrecognised word now"),
        (
            "run --warehuoses 4",
            "unknown flag --warehuoses; did you mean --warehouses?",
        ),
        ("run --qqqqqqq", "tidemark tpcc --help lists them"),
        ("run -x", "unknown flag -x"),
        (
            "--warehouses 0 run",
            "--warehouses=0: must be a whole number from 1",
        ),
        ("--warehouses abc run", "for example --warehouses=10"),
        ("--warehouses -3 run", "--warehouses=-3"),
        ("run --warehouses", "needs a value"),
        ("-d oracle run", "--driver=oracle: must be mysql, postgres"),
        ("--time soon run", "--time=soon"),
        ("--output yaml run", "plain, table, json"),
        ("prepare --wait", "--wait applies only to run, not prepare"),
        ("run --no-check", "--no-check applies only to prepare"),
        ("run --wait maybe", "unrecognised word maybe"),
        ("run --wait=maybe", "--wait=maybe: must be on or off"),
    ] {
        let message = parsed(line).unwrap_err().message;
        assert!(message.contains(said), "{line}: {message}");
    }
}

#[test]
fn flags_that_are_the_workloads_options_take_what_it_takes() {
    let mut seen = 0;
    for table in TOOL.definition().unwrap().options {
        for own in *table {
            let Some(flag) = TOOL.flags().find(|f| f.spec.name == own.name) else {
                continue;
            };
            seen += 1;
            assert_eq!(flag.spec.kind, own.kind, "{}", own.name);
            assert_eq!(flag.spec.default, own.default, "{}", own.name);
        }
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn no_name_or_letter_is_taken_twice() {
    // clap itself looks, in debug builds.
    grammar(&TOOL, TOOL.definition().unwrap()).debug_assert();
}

#[test]
fn help_and_version_are_to_be_printed() {
    for (line, holds) in [
        ("--help", "--warehouses"),
        ("run -h", "--target sqlite:tpcc.db"),
        ("--version", env!("TIDEMARK_VERSION")),
    ] {
        match parsed(line).unwrap() {
            Invocation::Print(text) => assert!(text.contains(holds), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}
