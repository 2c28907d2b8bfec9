//! Reads sysbench's configuration files.

use crate::exit::Failure;
use std::path::Path;
use tidemark_core::parse_config_file;
use tidemark_files::{LONGEST_CONFIGURATION, read_text};

/// The options of a configuration file, in its order.
///
/// # Errors
/// [`Failure`] of bad usage when the file can't be read or a line is not `name=value`.
pub fn read(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let shown = path.display();
    let text = read_text(path, LONGEST_CONFIGURATION)
        .map_err(|e| Failure::usage(format!("--config-file={shown}: {e}")))?;
    parse_config_file(&text).map_err(|e| Failure::usage(format!("--config-file={shown}, {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_not_be_read_is_refused_by_name_and_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "threads=2\nthreads 4\n").unwrap();
        let error = read(file.path()).unwrap_err().to_string();
        assert!(
            error.contains("line 2") && error.contains("threads=16"),
            "{error}"
        );
        let error = read("/nowhere/at/all".as_ref()).unwrap_err().to_string();
        assert!(error.contains("can't be read"), "{error}");
    }
}
