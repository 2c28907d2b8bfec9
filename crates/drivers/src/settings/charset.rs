//! What tables need where a database's own defaults are of no use for text.

use crate::Session;
use tidemark_core::{DbError, Protocol};

/// Options for the CREATE TABLE of tables with text in the session's database, with a blank before
/// them; empty where its defaults do. Under MySQL's CHARACTER SET binary a CHAR column would be BINARY,
/// padded with zero bytes that a comparison sees (manual, "The BINARY and VARBINARY Types").
///
/// # Errors
/// As [`Session::query`].
pub async fn text_options(session: &mut Session) -> Result<&'static str, DbError> {
    if session.dialect().engine().protocol() != Protocol::Mysql {
        return Ok("");
    }
    let rows = session.query("SELECT @@character_set_database").await?;
    Ok(match rows.text(0, 0).as_deref() {
        Some("binary") => " DEFAULT CHARACTER SET utf8mb4",
        _ => "",
    })
}
