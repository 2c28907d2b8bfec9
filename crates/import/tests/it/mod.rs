//! Tests of whole documents.

mod aligned;
mod attribution;
mod documents;
mod hostile;
mod logs;
mod objectives;
mod reading;
mod series;
mod styles;
mod tables;
mod tools;
mod turned;
