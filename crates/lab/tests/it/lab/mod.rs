//! The laboratory, driven by the real drivers.

mod faults;
mod protocol;
mod raw;
mod support;
