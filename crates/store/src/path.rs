//! Where the store is when nobody names a place.

use crate::StoreError;
use std::ffi::OsString;
use std::path::PathBuf;

/// `$TIDEMARK_STORE`, else `$XDG_DATA_HOME/tidemark/runs.db`, else
/// `$HOME/.local/share/tidemark/runs.db` (XDG Base Directory Specification).
///
/// # Errors
/// [`StoreError::NoPlace`] when none of the three is set.
pub fn default_path() -> Result<PathBuf, StoreError> {
    from_environment(|name| std::env::var_os(name))
}

/// The folder of what Tidemark keeps for its user: `$XDG_DATA_HOME/tidemark`, else
/// `$HOME/.local/share/tidemark`.
///
/// # Errors
/// [`StoreError::NoPlace`] when neither is set.
pub fn data_folder() -> Result<PathBuf, StoreError> {
    folder_from(|name| std::env::var_os(name))
}

fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    if let Some(path) = variable("TIDEMARK_STORE").filter(|v| !v.is_empty()) {
        return Ok(path.into());
    }
    Ok(folder_from(variable)?.join("runs.db"))
}

fn folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, StoreError> {
    let set = |name| variable(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    // The specification: "All paths set in these environment variables must be absolute. If an
    // implementation encounters a relative path [...] it should consider the path invalid and
    // ignore it."
    let data = set("XDG_DATA_HOME")
        .filter(|p| p.is_absolute())
        .or_else(|| set("HOME").map(|home| home.join(".local/share")))
        .ok_or(StoreError::NoPlace)?;
    Ok(data.join("tidemark"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Option<PathBuf> {
        from_environment(|name| {
            set.iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| OsString::from(v))
        })
        .ok()
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        let (own, xdg, home) = (
            ("TIDEMARK_STORE", "my.db"),
            ("XDG_DATA_HOME", "/data"),
            ("HOME", "/home/u"),
        );
        let is = |set: &[(&str, &str)], path: &str| {
            assert_eq!(with(set), Some(PathBuf::from(path)), "{set:?}");
        };
        is(&[own, xdg, home], "my.db");
        is(&[xdg, home], "/data/tidemark/runs.db");
        is(&[home], "/home/u/.local/share/tidemark/runs.db");
        is(
            &[("TIDEMARK_STORE", ""), ("XDG_DATA_HOME", "rel"), home],
            "/home/u/.local/share/tidemark/runs.db",
        );
        assert_eq!(with(&[]), None);
    }
}
