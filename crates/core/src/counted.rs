//! Numbers of things, in English.

/// A number with the word that goes with it.
///
/// ```
/// use tidemark_core::counted;
/// assert_eq!(counted(1, "run", "runs"), "1 run");
/// assert_eq!(counted(0, "study", "studies"), "0 studies");
/// ```
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
