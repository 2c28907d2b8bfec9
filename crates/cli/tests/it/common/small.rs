//! A small table in a file, for runs that only have to go on for a while.

use super::Workdir;

/// A table to run on.
pub fn prepared() -> Workdir {
    let dir = Workdir::new();
    dir.ok(&[
        "sysbench",
        "oltp_read_write",
        "--target=sqlite:a.db",
        "--table-size=500",
        "prepare",
    ]);
    dir
}

/// A run on it, without its length and its last word.
pub const RUN: [&str; 5] = [
    "sysbench",
    "oltp_read_write",
    "--target=sqlite:a.db",
    "--table-size=500",
    "--threads=2",
];
