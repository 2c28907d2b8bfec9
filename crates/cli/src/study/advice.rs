//! What commands advise, as the user of a study can do it.

/// Why a load failed, with the way that a study's file has in the place of the command's options.
pub fn of_load(reason: &str) -> String {
    reason
        .replace(
            "add --replace",
            "write existing = \"replace\" at the top of the study's file",
        )
        .replace(", or add --force to drop it", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_commands_become_keys_of_the_file() {
        let said = of_load("To drop it and load it again, add --replace (exit)");
        assert_eq!(
            said,
            "To drop it and load it again, write existing = \"replace\" at the top of the study's \
             file (exit)"
        );
        let said = of_load("Use another database, or add --force to drop it (exit)");
        assert_eq!(said, "Use another database (exit)");
    }
}
