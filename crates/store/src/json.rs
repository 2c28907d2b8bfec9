//! One run record as JSON text.

use crate::RecordError;
use tidemark_core::record::{RunRecord, SCHEMA_VERSION, to_text};

/// The record as [`to_text`] writes it.
///
/// # Errors
/// [`RecordError::Malformed`] when it holds a number that is not finite.
pub fn to_json(record: &RunRecord) -> Result<String, RecordError> {
    readable::<RunRecord>(to_text(record)?)
}

/// Passes JSON on that can be read again. JSON has no infinity and no NaN; `serde_json` writes
/// `null` for them, which would only be noticed when the run is long over.
pub(crate) fn readable<T: serde::de::DeserializeOwned>(
    text: String,
) -> Result<String, RecordError> {
    serde_json::from_str::<T>(&text)?;
    Ok(text)
}

/// Reads what [`to_json`] wrote, now or in an older Tidemark.
///
/// # Errors
/// [`RecordError`]: the text is no record, or a newer Tidemark wrote it.
pub fn from_json(text: &str) -> Result<RunRecord, RecordError> {
    // The version is looked at before anything else: a newer record may lack or change what this
    // version expects, and must not be called broken for it.
    #[derive(serde::Deserialize)]
    struct Versioned {
        schema_version: Option<u64>,
    }
    let versioned: Versioned = serde_json::from_str(text)?;
    match versioned.schema_version {
        None => Err(RecordError::NoVersion),
        Some(found) if found > u64::from(SCHEMA_VERSION) => Err(RecordError::Newer {
            found,
            supported: SCHEMA_VERSION,
        }),
        Some(_) => Ok(serde_json::from_str(text)?),
    }
}
