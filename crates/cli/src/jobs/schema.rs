//! `tidemark schema`: what jobs, records and diagnoses look like, for other programs.

use crate::args::Schema;
use crate::exit::{ExitCode, Failure};
use crate::stdio::print;
use schemars::schema_for;
use tidemark_core::Job;

/// Prints a JSON schema (draft 2020-12).
///
/// # Errors
/// None today.
pub fn schema(words: &Schema) -> Result<ExitCode, Failure> {
    let schema = match words.of.as_str() {
        "record" => schema_for!(tidemark_core::record::RunRecord),
        "diagnosis" => schema_for!(tidemark_diagnosis::Diagnosis),
        _ => schema_for!(Job),
    };
    print(&format!("{:#}\n", schema.as_value()));
    Ok(ExitCode::Success)
}
