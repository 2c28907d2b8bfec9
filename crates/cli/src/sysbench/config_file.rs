//! sysbench's configuration files: one `name=value` a line.

use crate::exit::Failure;
use std::path::Path;

/// Reads a configuration file: `name=value` lines; `#` and `;` begin comments, blanks around name
/// and value and quotes around the value are dropped.
///
/// # Errors
/// [`Failure`] of bad usage when the file can't be read or a line is not `name=value`. sysbench
/// goes on without a word there, and runs something else than was asked.
pub fn read(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|e| Failure::usage(format!("--config-file={shown}: can't be read: {e}")))?;
    let mut options = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim_end(), unquote(value.trim())),
            // A flag alone means on, as on the command line.
            None if !line.contains(char::is_whitespace) && !line.starts_with('[') => (line, "on"),
            None => {
                return Err(Failure::usage(format!(
                    "--config-file={shown}, line {}: not name=value; for example threads=16",
                    number + 1
                )));
            }
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

    fn read_text(text: &str) -> Result<Vec<(String, String)>, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, text).unwrap();
        read(&file)
    }

    #[test]
    fn comments_blanks_and_quotes() {
        let read =
            read_text("# c\n\n threads = 2\ntime=3 # why\nmysql-db=\"my db\"\nskip-trx\n").unwrap();
        let expected = [
            ("threads", "2"),
            ("time", "3"),
            ("mysql-db", "my db"),
            ("skip-trx", "on"),
        ];
        assert_eq!(read, expected.map(|(n, v)| (n.to_string(), v.to_string())));
    }

    #[test]
    fn a_line_that_says_nothing_is_refused_with_its_number() {
        let error = read_text("threads=2\nthreads 4\n").unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("threads=16"),
            "{error}"
        );
        assert!(
            read("/nowhere/at/all".as_ref())
                .unwrap_err()
                .to_string()
                .contains("can't be read")
        );
    }
}
