//! Limits are in one place, with their reasons.

use std::fs;
use std::path::Path;

/// A limit without a reason is a number that fitted once.
#[test]
fn each_limit_has_its_reason() {
    let mut limits = 0;
    for file in ["thresholds.rs", "experiments/thresholds.rs"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file);
        let mut reason = String::new();
        for line in fs::read_to_string(path).unwrap().lines() {
            if let Some(said) = line.strip_prefix("///") {
                reason.push_str(said);
            } else if line.starts_with("pub") {
                limits += usize::from(line.contains(" const "));
                let refers = reason.contains("See [`");
                assert!(refers || reason.len() > 20, "{file}: {line}: {reason}");
                reason.clear();
            }
        }
    }
    assert!(limits > 100, "{limits}");
}

/// What decides whether imported figures contradict each other is no number in a rule.
#[test]
fn rules_of_columns_have_no_limits_of_their_own() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules/stated/options.rs");
    let text = fs::read_to_string(path).unwrap();
    let compares = |line: &str| {
        let mut sides = line.split(['<', '>']).skip(1);
        sides.any(|side| {
            let side = side.trim_start_matches('=').trim_start();
            let number = side.split(|c: char| !c.is_ascii_digit() && c != '.').next();
            number.is_some_and(|n| n.contains('.') && !["0.0", "1.0"].contains(&n))
        })
    };
    let found: Vec<&str> = text.lines().filter(|line| compares(line)).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert!(compares("if law(a, b) > 0.5 {") && !compares("rate > other * 1.01"));
}
