//! Tests of whole documents.

mod documents;
mod hostile;
mod logs;
