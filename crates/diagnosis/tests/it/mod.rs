//! Diagnoses of made runs.

mod common;
mod doubts;
mod healthy;
mod hosts;
mod json;
mod loads;
mod mysql;
mod neighbours;
mod parts;
mod scaling;
mod server;
mod thresholds;
