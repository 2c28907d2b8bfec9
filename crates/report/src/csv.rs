//! Lines of comma-separated values.

/// One line: fields are quoted where they must be, and the line ends, as RFC 4180 has it.
pub(crate) fn line(fields: &[String]) -> String {
    let fields: Vec<String> = fields.iter().map(|f| quoted(f)).collect();
    format!("{}\r\n", fields.join(","))
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

/// Text that came from outside: a spreadsheet would compute what begins like a formula (OWASP, CSV
/// injection), unless it is a number.
pub(crate) fn words(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if formula && text.parse::<f64>().is_err() {
        format!("'{text}")
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_as_rfc_4180_says_and_compute_nothing() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"\n", "\"say \"\"hi\"\"\n\""),
            ("=1+1", "'=1+1"),
            ("-5", "-5"),
            ("@cmd", "'@cmd"),
        ] {
            assert_eq!(line(&[words(text)]), format!("{field}\r\n"));
        }
    }
}
