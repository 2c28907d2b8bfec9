//! Limits are in one place, with their reasons.

use std::fs;
use std::path::Path;

/// Numbers that are no limit: nothing, all, units, a page.
const NO_LIMITS: [&str; 5] = ["0.0", "1.0", "100.0", "1000.0", "8192.0"];
/// The middle of two times, a third of a run, and fewer than two of something.
const NO_LIMIT_LINES: [&str; 3] = ["+ to) / 2.0", "/ 3.0", "count < 2.0"];

fn numbers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .filter(|word| word.contains('.') && !word.contains(".."))
}

#[test]
fn causes_have_no_limits_of_their_own() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/causes");
    let mut found = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        for line in fs::read_to_string(&path).unwrap().lines() {
            let code = line.split("//").next().unwrap_or("");
            let is_known = NO_LIMIT_LINES.iter().any(|part| code.contains(part));
            let limits = numbers(code).filter(|n| !NO_LIMITS.contains(n) && !is_known);
            found.extend(limits.map(|n| format!("{}: {n}: {line}", path.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
    let numbers: Vec<&str> = numbers("a.b >= 0.25 * c.max(1.0) && x1.0").collect();
    assert_eq!(numbers, ["0.25", "1.0"]);
}

/// A limit without a reason is a number that fitted once.
#[test]
fn each_limit_has_its_reason() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/thresholds.rs");
    let text = fs::read_to_string(path).unwrap();
    let mut reason = String::new();
    let mut limits = 0;
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("///") {
            reason.push_str(said);
        } else if let Some(constant) = line.strip_prefix("pub const ") {
            limits += 1;
            let refers = reason.contains("See [`");
            assert!(refers || reason.len() > 20, "{constant}: {reason}");
            reason.clear();
        }
    }
    assert!(limits > 60, "{limits}");
}
