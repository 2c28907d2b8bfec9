//! The options as set, checked.

use super::Table;
use tidemark_core::{OptionError, OptionValues};

/// TPC-H's options as set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The scale factor.
    pub scale: f64,
    /// Whether the columns of foreign keys have indexes.
    pub indexes: bool,
    /// Whether there are foreign keys.
    pub foreign_keys: bool,
    /// Replicas of every table in TiFlash.
    pub tiflash_replicas: u64,
}

impl Settings {
    /// Checks the options and those that depend on each other.
    ///
    /// # Errors
    /// [`OptionError`] with the flag, its value, what is allowed and an example.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let scale = values.float("sf");
        if has_a_supplier_twice(Table::Supplier.units(scale)) {
            return Err(OptionError::Conflict(format!(
                "--sf={}: by the specification's formula (clause 4.2.3) a part would have the \
                 same supplier twice; below 0.023 only some sizes are possible, for example \
                 --sf=0.01 or --sf=0.02",
                values.text("sf")
            )));
        }
        Ok(Self {
            scale,
            indexes: values.flag("indexes"),
            foreign_keys: values.flag("foreign-keys"),
            tiflash_replicas: values.uint("tiflash-replica"),
        })
    }
}

/// Whether the formula for `PS_SUPPKEY` (clause 4.2.3) gives some part one of so many suppliers
/// twice. A part's suppliers are one step apart from each other, and steps differ by twenty at most:
/// there are twenty parts for each supplier.
fn has_a_supplier_twice(suppliers: u64) -> bool {
    let step = suppliers / 4;
    suppliers == 0
        || (step..step + 20).any(|step| (1..=3).any(|n| (n * step).is_multiple_of(suppliers)))
}

#[cfg(test)]
mod tests {
    use super::super::OPTIONS;
    use super::*;
    use std::collections::HashSet;
    use tidemark_core::Source;

    fn set(scale: &str) -> Result<Settings, String> {
        let mut values = OptionValues::defaults([OPTIONS]);
        let set = values.set("sf", scale, Source::CommandLine);
        set.map_err(|e| e.to_string())?;
        Settings::new(&values).map_err(|e| e.to_string())
    }

    #[test]
    fn a_scale_factor_may_be_a_fraction() {
        for good in ["0.01", "0.02", "0.1", "1", "1.5", "100000"] {
            assert!(set(good).is_ok(), "{good}");
        }
        for bad in ["0", "-1", "x", "100001", "nan", "0.009"] {
            let message = set(bad).unwrap_err();
            assert!(message.contains("--sf"), "{bad}: {message}");
        }
        let message = set("0.012").unwrap_err();
        assert!(
            message.contains("--sf=0.012") && message.contains("--sf=0.01 "),
            "{message}"
        );
    }

    /// Against the keys themselves.
    #[test]
    fn sizes_that_make_a_key_twice_are_known() {
        for suppliers in 40..400_i64 {
            let key = |part: i64, n: i64| {
                (part + n * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1
            };
            let distinct = |part| (0..4).map(|n| key(part, n)).collect::<HashSet<_>>().len() == 4;
            let twice = !(1..=20 * suppliers).all(distinct);
            assert_eq!(has_a_supplier_twice(suppliers as u64), twice, "{suppliers}");
        }
        assert!((229..5_000).all(|n| !has_a_supplier_twice(n)));
    }
}
