//! Options of TPC-H.

use tidemark_core::{OptionKind, OptionSpec, option};

/// The largest scale factor that the specification lists (clause 4.1.3.1).
pub(super) const MAX_SCALE: f64 = 100_000.0;
/// The smallest that has rows enough for every query.
pub(super) const MIN_SCALE: f64 = 0.01;

/// Everything that can be set about TPC-H.
pub const OPTIONS: &[OptionSpec] = &[
    option(
        "sf",
        OptionKind::Float {
            min: MIN_SCALE,
            max: MAX_SCALE,
        },
        "1",
        "Scale factor; 1 is some gigabytes, 0.01 and 0.1 make small tables",
    ),
    option(
        "indexes",
        OptionKind::Bool,
        "on",
        "Index the columns of every foreign key after loading; off = primary keys only",
    ),
    option(
        "foreign-keys",
        OptionKind::Bool,
        "off",
        "Add the foreign keys of clause 1.4 after loading",
    ),
    option(
        "tiflash-replica",
        OptionKind::Int { min: 0, max: 100 },
        "0",
        "Replicas of every table in TiFlash, the column store of TiDB",
    ),
];
