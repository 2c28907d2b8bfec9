//! Tests of whole documents.

mod attribution;
mod documents;
mod hostile;
mod logs;
mod series;
mod tables;
mod tools;
