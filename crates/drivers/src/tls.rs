//! TLS settings of a target.

use rustls::ClientConfig;
use std::sync::Arc;
use tidemark_core::{DbError, Target, TlsMode};

/// The client's TLS configuration; `None` when the target asks for none.
///
/// # Errors
/// [`tidemark_core::ErrorClass::Refused`] when a PEM file can't be read.
pub(crate) fn client_config(target: &Target) -> Result<Option<Arc<ClientConfig>>, DbError> {
    match target.tls {
        TlsMode::Disabled => Ok(None),
        _ => Err(DbError::new(
            tidemark_core::ErrorClass::Refused,
            "tls",
            "not built yet",
        )),
    }
}
