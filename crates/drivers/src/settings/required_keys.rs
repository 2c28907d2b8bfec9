//! Servers that make no table without a primary key.

use crate::Session;
use crate::dialect::Dialect;
use tidemark_core::DbError;

/// What MySQL itself adds under `sql_generate_invisible_primary_key` (manual, "Generated Invisible Primary
/// Keys"); a statement that lists no columns does not see it. MariaDB knows the same words.
const NUMBER: &str = "my_row_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY";

/// The setting by which the server makes no table without a primary key; `None` where there is no such
/// setting, or it is off.
///
/// # Errors
/// As [`Session::query`].
pub async fn required_keys(session: &mut Session) -> Result<Option<&'static str>, DbError> {
    let Some(name) = session.dialect().of_engine().requires_keys else {
        return Ok(None);
    };
    let asked = format!("SHOW SESSION VARIABLES LIKE '{name}'");
    let rows = session.query(&asked).await?;
    Ok((rows.text(0, 1).as_deref() == Some("ON")).then_some(name))
}

impl Dialect {
    /// A CREATE TABLE statement with one more column, which numbers the rows unseen and is the primary
    /// key.
    pub fn number_rows(&self, create: &str) -> String {
        create.replacen('(', &format!("({NUMBER}, "), 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Engine;

    #[test]
    fn the_number_is_the_first_column() {
        assert_eq!(
            Dialect::new(Engine::Mysql).number_rows("CREATE TABLE h (a INT, b DECIMAL(6, 2))"),
            format!("CREATE TABLE h ({NUMBER}, a INT, b DECIMAL(6, 2))")
        );
    }
}
