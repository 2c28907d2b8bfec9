//! Runs whose figures must not be used, beside others: what `compare` and `report` make of them.

use super::common::Workdir;
use std::sync::LazyLock;

/// Runs of a store, made once.
struct Made {
    dir: Workdir,
    /// Clean ones.
    good: Vec<String>,
    /// One that deletes what is no longer there.
    bad: String,
}

static MADE: LazyLock<Made> = LazyLock::new(|| {
    let dir = Workdir::new();
    let run = |words: &str| {
        let line = format!("sysbench {words} --table-size=200 --target=sqlite:rows.db");
        dir.ok(&line.split_whitespace().collect::<Vec<_>>());
    };
    run("oltp_delete prepare");
    let mut good = Vec::new();
    // A busy machine may spoil one.
    for _ in 0..12 {
        run("oltp_point_select --time=2 run");
        if dir.run(&["audit", "last"]).code == Some(0) {
            good.push(dir.last_record()["id"].as_str().unwrap().to_string());
        }
        if good.len() == 4 {
            break;
        }
    }
    assert_eq!(good.len(), 4);
    run("oltp_delete --events=4000 --time=0 run");
    let bad = dir.last_record()["id"].as_str().unwrap().to_string();
    let shown = dir.ok(&["show", "last"]).out;
    assert!(shown.contains("INVALID [no-op-writes]"), "{shown}");
    Made { dir, good, bad }
});

#[test]
fn a_comparison_leaves_out_what_must_not_be_used() {
    let Made { dir, good, bad } = &*MADE;
    let a = good[..2].join(",");
    let clean = good[2..].join(",");
    let with = format!("{clean},{bad}");
    let json = |b: &str| -> serde_json::Value {
        serde_json::from_str(&dir.ok(&["compare", &a, b, "--format=json"]).out).unwrap()
    };
    let (without, told) = (json(&clean), json(&with));
    assert_eq!(told["metrics"], without["metrics"]);
    assert_eq!(told["b"], without["b"]);
    // A busy machine may break another rule besides.
    let rules = told["unusable"][0]["rules"].as_array().unwrap().clone();
    assert!(rules.contains(&serde_json::json!("no-op-writes")), "{told}");
    assert_eq!(
        told["unusable"],
        serde_json::json!([{"run": bad, "side": "b", "rules": rules, "left_out": true}])
    );
    let rules: Vec<&str> = rules.iter().filter_map(|rule| rule.as_str()).collect();
    let rules = rules.join(", ");
    // A limit is judged on the others, and that is said, whatever the format.
    let limit = "throughput < -99%";
    // On a busy machine two repeats may say nothing, which does not pass.
    let compared = |more: &[&str]| {
        let words = [&["compare", &a, &with, "--fail-if", limit][..], more].concat();
        let said = dir.run(&words);
        assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
        said
    };
    let said = compared(&[]);
    for part in [
        format!("INVALID: run {bad} of B is excluded ({rules})."),
        "(1 run excluded as invalid)".into(),
    ] {
        assert!(said.out.contains(&part), "{part}: {said:?}");
    }
    for format in ["json", "md"] {
        let said = compared(&["--format", format]);
        let line = format!("run {bad}: it is invalid ({rules}) and is excluded");
        assert!(said.err.contains(&line), "{said:?}");
    }
    let zh = dir.ok(&["compare", &a, &with, "--lang=zh"]);
    assert!(
        zh.out.contains(&format!("无效：B 方的压测 {bad} 已剔除")),
        "{zh:?}"
    );
}

#[test]
fn no_limit_passes_on_a_side_without_a_run_that_may_be_used() {
    let Made { dir, good, bad } = &*MADE;
    // Whichever side it is, and whichever way the limit looks.
    for (a, b) in [(&good[0], bad), (bad, &good[0])] {
        for limit in ["throughput < -99%", "throughput > +9999999%"] {
            let said = dir.run(&["compare", a, b, "--fail-if", limit]);
            assert_eq!(said.code, Some(3), "{said:?}");
            for part in ["cannot be judged", "No conclusion is possible", "invalid"] {
                assert!(said.out.contains(part), "{part}: {said:?}");
            }
        }
        // Without a limit it is a comparison like any other, for whoever looks at it.
        dir.ok(&["compare", a, b]);
    }
}

#[test]
fn a_report_tells_what_may_be_used() {
    let Made { dir, good, bad } = &*MADE;
    let mut args = vec!["report", bad, "--format=csv", "--out=-"];
    args.extend(good.iter().map(String::as_str));
    let csv = dir.ok(&args).out;
    let mut lines = csv.lines();
    let head = lines.next().unwrap().split(',');
    let usable_at = head.into_iter().position(|name| name == "usable").unwrap();
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let usable = if row.starts_with(bad.as_str()) {
            "false"
        } else {
            "true"
        };
        assert_eq!(row.split(',').nth(usable_at), Some(usable), "{row}");
    }
}
