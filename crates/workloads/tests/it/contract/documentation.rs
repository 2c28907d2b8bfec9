//! Every workload and every option is documented.

use tidemark_core::OptionSpec;
use tidemark_workloads::random::RAND_OPTIONS;
use tidemark_workloads::registry;

const DOCS: &str = include_str!("../../../../../docs/workloads.md");

/// The text of one section, up to the next of the same or a higher level.
fn section(heading: &str) -> Option<&'static str> {
    let start = DOCS.find(&format!("\n{heading}\n"))? + 1;
    let level = heading.bytes().take_while(|b| *b == b'#').count();
    let rest = &DOCS[start + heading.len()..];
    let end = rest
        .match_indices("\n#")
        .map(|(at, _)| at)
        .find(|at| rest[at + 1..].bytes().take_while(|b| *b == b'#').count() <= level);
    Some(&rest[..end.unwrap_or(rest.len())])
}

#[test]
fn every_workload_has_a_section() {
    for definition in registry() {
        let heading = format!("### `{}`", definition.name);
        let text = section(&heading).unwrap_or_else(|| panic!("docs/workloads.md lacks {heading}"));
        assert!(text.contains("```sql"), "{heading} shows no SQL");
        assert!(
            text.contains("read/write/other"),
            "{heading} does not say how it counts"
        );
    }
}

fn row(option: &OptionSpec) -> String {
    let default = match option.default {
        "" => "(none)".to_string(),
        default => format!("`{default}`"),
    };
    format!("| `--{}` | {default} |", option.name)
}

#[test]
fn every_option_is_in_a_table_with_its_default() {
    let own = registry().iter().flat_map(|d| d.options.iter().copied());
    for option in own.chain([RAND_OPTIONS]).flatten() {
        let row = row(option);
        assert!(DOCS.contains(&row), "docs/workloads.md lacks `{row}`");
    }
}
