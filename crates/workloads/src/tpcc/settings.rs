//! The options as set, checked.

use tidemark_core::{OptionError, OptionValues};

/// How warehouses are dealt to partitions; go-tpc's types 1 to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartitionType {
    /// By the engine's hash of the warehouse number.
    Hash,
    /// By even ranges of warehouse numbers.
    Range,
    /// By lists: a warehouse's number modulo the number of partitions.
    ListHash,
    /// By lists: even ranges of warehouse numbers.
    ListRange,
}

/// TPC-C's options as set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Warehouses of the database, numbered from 1.
    pub warehouses: u64,
    /// Partitions of every table but `item`; 1 is whole tables.
    pub parts: u32,
    /// How warehouses are dealt to them.
    pub partition_type: PartitionType,
    /// Whether there are foreign keys.
    pub foreign_keys: bool,
    /// Percent of each interactive transaction type; they sum to 100.
    pub weight: [u32; 5],
    /// Whether terminals have keying and think times.
    pub wait: bool,
    /// Factor of the keying times; 0 is none.
    pub keying_scale: f64,
    /// Factor of the think times; 0 is none.
    pub think_scale: f64,
    /// Whether Delivery is queued and done after its reply.
    pub deferred: bool,
    /// Whether a New-Order's lines go in statements for many rows.
    pub batched: bool,
    /// Whether statements that don't wait for each other travel together.
    pub pipelined: bool,
    /// First warehouse with terminals in this run, from 1.
    pub first_warehouse: u64,
    /// Last warehouse with terminals in this run, inclusive.
    pub last_warehouse: u64,
}

impl Settings {
    /// Checks the options and those that depend on each other.
    ///
    /// # Errors
    /// [`OptionError`] with the flag, its value, what is allowed and an example.
    pub fn new(values: &OptionValues) -> Result<Self, OptionError> {
        let warehouses = values.uint("warehouses");
        let parts = u32::try_from(values.uint("parts")).unwrap_or(u32::MAX);
        if u64::from(parts) > warehouses {
            return Err(OptionError::Conflict(format!(
                "--parts={parts} exceeds --warehouses={warehouses}: a partition holds at least \
                 one warehouse; for example --parts={warehouses}"
            )));
        }
        let wait = values.flag("wait");
        let scale = values.float("wait-scale");
        // None where only the other one is asked for.
        let scale_of = |other: &str| match values.text("wait-for") == other {
            true => 0.0,
            false => scale,
        };
        let first_warehouse = values.uint("first-warehouse");
        let last_warehouse = match values.uint("last-warehouse") {
            0 => warehouses,
            last => last,
        };
        if last_warehouse > warehouses || first_warehouse > last_warehouse {
            return Err(OptionError::Conflict(format!(
                "--first-warehouse={first_warehouse} to --last-warehouse={last_warehouse} is not \
                 a range within --warehouses={warehouses}; for example --first-warehouse=1 \
                 --last-warehouse={warehouses}"
            )));
        }
        Ok(Self {
            warehouses,
            parts,
            partition_type: match values.text("partition-type") {
                "range" => PartitionType::Range,
                "list-hash" => PartitionType::ListHash,
                "list-range" => PartitionType::ListRange,
                _ => PartitionType::Hash,
            },
            foreign_keys: values.flag("foreign-keys"),
            weight: weight(values.text("weight"))?,
            wait,
            keying_scale: scale_of("think"),
            think_scale: scale_of("keying"),
            deferred: match values.text("delivery") {
                "deferred" => true,
                "inline" => false,
                _ => wait,
            },
            batched: values.text("statements") != "single",
            pipelined: values.text("statements") == "pipelined",
            first_warehouse,
            last_warehouse,
        })
    }
}

/// Five whole numbers that sum to 100.
fn weight(text: &str) -> Result<[u32; 5], OptionError> {
    let numbers: Vec<u32> = text
        .split(',')
        .map_while(|part| part.trim().parse().ok())
        .collect();
    let whole = numbers.len() == text.split(',').count();
    let sum: u64 = numbers.iter().copied().map(u64::from).sum();
    match <[u32; 5]>::try_from(numbers) {
        Ok(weight) if whole && sum == 100 => Ok(weight),
        _ => Err(OptionError::Value {
            name: "weight".into(),
            value: text.into(),
            allowed: "five whole numbers that sum to 100: New-Order, Payment, Order-Status, \
                      Delivery, Stock-Level"
                .into(),
            example: "--weight=45,43,4,4,4".into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::Source;

    fn settings(options: &[(&str, &str)]) -> Result<Settings, OptionError> {
        let mut values = OptionValues::defaults([super::super::OPTIONS]);
        for (name, value) in options {
            values.set(name, value, Source::CommandLine)?;
        }
        Settings::new(&values)
    }

    #[test]
    fn defaults_are_go_tpcs() {
        let s = settings(&[]).unwrap();
        assert_eq!((s.warehouses, s.parts), (10, 1));
        assert_eq!(s.weight, [45, 43, 4, 4, 4]);
        assert_eq!((s.first_warehouse, s.last_warehouse), (1, 10));
        assert!(!s.wait && !s.deferred && s.batched && s.pipelined && !s.foreign_keys);
    }

    #[test]
    fn delivery_is_deferred_with_think_times_unless_told_otherwise() {
        assert!(settings(&[("wait", "on")]).unwrap().deferred);
        let inline = settings(&[("wait", "on"), ("delivery", "inline")]);
        assert!(!inline.unwrap().deferred);
        assert!(settings(&[("delivery", "deferred")]).unwrap().deferred);
    }

    #[test]
    fn what_contradicts_itself_is_refused_by_name() {
        for (options, part) in [
            (&[("warehouses", "0")][..], "--warehouses=0"),
            (&[("warehouses", "3"), ("parts", "4")], "--parts=4"),
            (&[("weight", "45,43,4,4")], "--weight=45,43,4,4,4"),
            (&[("weight", "45,43,4,4,5")], "sum to 100"),
            (&[("weight", "45,43,4,4,4,0")], "five whole numbers"),
            (&[("weight", "45,43,4,4,x")], "--weight=45,43,4,4,x"),
            (&[("weight", "-5,53,44,4,4")], "--weight=-5"),
            (&[("weight", "4294967295,4294967295,1,1,1")], "sum to 100"),
            (&[("partition-type", "5")], "list-range"),
            (&[("last-warehouse", "11")], "--last-warehouse=11"),
            (
                &[("first-warehouse", "5"), ("last-warehouse", "4")],
                "--first-warehouse=5",
            ),
        ] {
            let message = settings(options).unwrap_err().to_string();
            assert!(message.contains(part), "{options:?}: {message}");
        }
    }
}
