//! Every key is documented.
use tidemark_study::KEYS;

#[test]
fn every_key_has_its_line_in_the_documentation() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/studies.md");
    let text = std::fs::read_to_string(path).unwrap();
    for key in KEYS.iter() {
        let section = text
            .split("\n### ")
            .find(|part| part.starts_with(&format!("`{}`", key.section.title())))
            .or_else(|| {
                let plain = key.section.title();
                text.split("\n### ")
                    .find(|part| part.to_lowercase().starts_with(plain))
            })
            .unwrap_or_else(|| panic!("no section {}", key.section.title()));
        // The page says once what a time is.
        let allowed = match key.allowed.starts_with("a time with ") {
            true => "a time",
            false => key.allowed,
        };
        let line = format!("| `{}` | {allowed} | {} |", key.name, key.help);
        assert!(
            section.contains(&line),
            "docs/studies.md lacks, under {}:\n{line}",
            key.section.title()
        );
    }
}
