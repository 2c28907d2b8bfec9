//! Study files.

use crate::memory::bounded;
use tidemark_study::{parse, redact};

/// Messages repeat every known key.
const A_BYTE: usize = 2048;
/// Stands for a password in what a fuzzer writes.
const SECRET: &str = "s3cr3t";

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    bounded(data.len(), A_BYTE, || {
        let lines = text.lines().count().max(1) + 1;
        match parse(text) {
            Ok(study) => {
                assert!(!study.workloads.is_empty() && study.repeats > 0);
                // What is no TOML is never stored.
                let shown = redact(text);
                assert_eq!(redact(&shown), shown);
            }
            Err(wrong) => {
                assert!(!wrong.problems.is_empty());
                for problem in &wrong.problems {
                    assert!((1..=lines).contains(&problem.line), "{problem:?}");
                    assert!(!problem.message.is_empty());
                }
            }
        }
    });
    password(text);
}

/// Wherever a target's password stands beside what a fuzzer writes, it is not shown.
fn password(text: &str) {
    if text.contains(SECRET) || text.contains("\"\"\"") || text.contains("'''") {
        return;
    }
    let text = format!(
        "{text}\n[[target]]\nurl = \"mysql://u:{SECRET}@h/d\"\n[[target]]\npassword = \"{SECRET}\"\n"
    );
    if let Err(wrong) = parse(&text) {
        assert!(!wrong.told("f").contains(SECRET), "{}", wrong.told("f"));
    }
    // What is no TOML is never stored.
    if parse(&text).is_ok() {
        assert!(!redact(&text).contains(SECRET), "{text}");
    }
}
