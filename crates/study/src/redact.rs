//! A study file without its passwords, for the store.

use tidemark_core::{redact_url, redact_value};
use toml::de::{DeTable, DeValue};

/// The text with `***` for every password: of URLs wherever they stand, comments included, and of
/// `password` keys, unless these name a variable.
pub fn redact(text: &str) -> String {
    let mut hidden = Vec::new();
    if let Ok(root) = DeTable::parse(text) {
        secrets(root.get_ref(), &mut hidden);
    }
    hidden.sort_by_key(|(span, _): &(std::ops::Range<usize>, String)| span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (span, shown) in hidden {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(&shown);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    comments(&out)
}

fn secrets(table: &DeTable<'_>, hidden: &mut Vec<(std::ops::Range<usize>, String)>) {
    for (key, value) in table {
        let is_password = key.get_ref().contains("password");
        of_value(is_password, value.get_ref(), value.span(), hidden);
    }
}

fn of_value(
    is_password: bool,
    value: &DeValue<'_>,
    span: std::ops::Range<usize>,
    hidden: &mut Vec<(std::ops::Range<usize>, String)>,
) {
    match value {
        DeValue::String(text) => {
            let shown = match is_password && !text.starts_with("env:") {
                true => "***".to_string(),
                false => redact_url(text),
            };
            if shown != *text {
                let escaped = shown.replace('\\', "\\\\").replace('"', "\\\"");
                hidden.push((span, format!("\"{escaped}\"")));
            }
        }
        DeValue::Array(items) => {
            for item in items.iter() {
                of_value(is_password, item.get_ref(), item.span(), hidden);
            }
        }
        DeValue::Table(table) => secrets(table, hidden),
        _ => {}
    }
}

/// What a comment keeps of a target that is not used at the moment.
fn comments(text: &str) -> String {
    let line = |line: &str| -> String {
        let Some((before, comment)) = line.split_once('#') else {
            return line.into();
        };
        let mut out = format!("{before}#");
        if let Some((name, value)) = comment.split_once('=')
            && name.contains("password")
            && !value.trim().starts_with("\"env:")
            && !value.trim().is_empty()
        {
            out.push_str(&format!("{name}= \"***\""));
            return out;
        }
        let mut word = String::new();
        for c in comment.chars() {
            if c.is_whitespace() || matches!(c, '"' | '\'' | '`') {
                out.push_str(&redact_value(&word));
                word.clear();
                out.push(c);
            } else {
                word.push(c);
            }
        }
        out.push_str(&redact_value(&word));
        out
    };
    let ends = text.ends_with('\n');
    let lines: Vec<String> = text.lines().map(line).collect();
    lines.join("\n") + if ends { "\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_left_and_all_else_is() {
        let text = "name = \"a\" # was mysql://u:geheim@h/x, u:geheim@h\n\
                    # password = \"geheim\"\n\
                    [[target]]\n\
                    name = 'b'\n\
                    url = 'mysql://u:geheim@h/db?tls=on' # here\n\
                    admin = \"postgres://h/db?user=u&password=geheim\"\n\
                    [[target]]\npassword = \"geheim\"\n\
                    [[target]]\npassword = \"env:PW\"\n\
                    [[factor]]\nvalues = [{ label = \"x\", target = \"mysql://u:geheim@h/db\" }]\n";
        let shown = redact(text);
        assert!(!shown.contains("geheim"), "{shown}");
        assert!(
            shown.contains("url = \"mysql://u:***@h/db?tls=on\" # here"),
            "{shown}"
        );
        assert!(shown.contains("password = \"env:PW\""));
        assert!(shown.contains("target = \"mysql://u:***@h/db\" }]"));
        assert_eq!(shown.lines().count(), text.lines().count());
        assert_eq!(redact(&shown), shown);
        let plain = "name = \"a\"\r\n[[target]]\n";
        assert_eq!(redact("name = \"a\"\n\n"), "name = \"a\"\n\n");
        assert!(redact(plain).starts_with("name = \"a\""));
    }
}
