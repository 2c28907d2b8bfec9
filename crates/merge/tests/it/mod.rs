//! What is merged is what one client with all samples would have.

mod common;
mod live;
mod records;
mod sums;
