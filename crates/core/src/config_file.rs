//! Configuration files as sysbench reads them: one `name=value` a line.

/// A line that says nothing. sysbench goes on without a word there, and runs something else than was
/// asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: not name=value; for example threads=16")]
pub struct ConfigLineError {
    /// Its number, from 1.
    pub line: usize,
}

/// Reads the text of a configuration file: `name=value` lines; `#` and `;` begin comments, blanks
/// around name and value and quotes around the value are dropped.
///
/// # Errors
/// [`ConfigLineError`] for a line that is not `name=value`.
///
/// ```
/// let read = tidemark_core::parse_config_file("# four sessions\nthreads = 4\n")?;
/// assert_eq!(read, [("threads".to_string(), "4".to_string())]);
/// # Ok::<(), tidemark_core::ConfigLineError>(())
/// ```
pub fn parse_config_file(text: &str) -> Result<Vec<(String, String)>, ConfigLineError> {
    let mut options = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        // Sections divide files that serve other programs too; sysbench reads over them.
        let is_section = line.starts_with('[') && line.ends_with(']');
        if line.is_empty() || is_section || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim_end(), unquote(value.trim())),
            // A flag alone means on, as on the command line.
            None if !line.contains(char::is_whitespace) && !line.starts_with('[') => (line, "on"),
            None => return Err(ConfigLineError { line: number + 1 }),
        };
        options.push((name.trim_start_matches("--").to_string(), value.to_string()));
    }
    Ok(options)
}

/// The value without quotes, or up to the first blank (a comment may follow).
fn unquote(value: &str) -> &str {
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote)
            && let Some((inner, _)) = inner.split_once(quote)
        {
            return inner;
        }
    }
    value.split(char::is_whitespace).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_quotes() {
        let text = "# c\n\n[client]\n threads = 2\ntime=3 # why\nmysql-db=\"my db\"\nskip-trx\n";
        let expected = [
            ("threads", "2"),
            ("time", "3"),
            ("mysql-db", "my db"),
            ("skip-trx", "on"),
        ];
        assert_eq!(
            parse_config_file(text).unwrap(),
            expected.map(|(n, v)| (n.to_string(), v.to_string()))
        );
    }

    #[test]
    fn a_line_that_says_nothing_is_refused_with_its_number() {
        let error = parse_config_file("threads=2\nthreads 4\n").unwrap_err();
        assert_eq!(error.line, 2);
        assert!(error.to_string().contains("threads=16"));
    }
}
