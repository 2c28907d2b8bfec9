//! The nearest known name to a mistyped one.

/// The candidate closest to `given`, when it is close enough to be what was meant.
///
/// ```
/// assert_eq!(tidemark_core::nearest("tabel-size", ["tables", "table-size"]), Some("table-size"));
/// assert_eq!(tidemark_core::nearest("zzz", ["tables", "table-size"]), None);
/// ```
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| (strsim::normalized_damerau_levenshtein(given, k), k))
        .filter(|(score, _)| *score >= 0.5)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

/// The end of a message about a name that is not known: `; did you mean NAME?`, or nothing.
///
/// ```
/// assert_eq!(tidemark_core::did_you_mean("rnu", ["run", "prepare"]), "; did you mean run?");
/// assert_eq!(tidemark_core::did_you_mean("zzz", ["run", "prepare"]), "");
/// ```
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, known).map_or(String::new(), |near| format!("; did you mean {near}?"))
}
