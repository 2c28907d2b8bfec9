//! Keying and think times (TPC-C, clause 5.2.5.7), as a workload file asks for them.

use crate::exit::Failure;
use std::time::Duration;
use tidemark_oltpbench::{TPCC, Transaction, WorkloadFile};

/// Keying time of each type, in seconds.
const KEYING: [f64; 5] = [18.0, 3.0, 2.0, 2.0, 2.0];
/// Mean think time of each type, in seconds.
const THINK: [f64; 5] = [12.0, 12.0, 10.0, 5.0, 5.0];
/// How far the pauses of a file may be from one multiple of the specification's.
const TOLERANCE: f64 = 0.01;

/// How long terminals pause, as a multiple of the specification's times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaitScale {
    /// Of the keying times; 0 is none.
    pub keying: f64,
    /// Of the think times; 0 is none.
    pub think: f64,
}

impl WaitScale {
    /// No pauses.
    pub const NONE: WaitScale = WaitScale {
        keying: 0.0,
        think: 0.0,
    };

    /// What the file asks for: `useKeyingTime` and `useThinkTime`, or the pauses of its transaction
    /// types.
    ///
    /// # Errors
    /// [`Failure`] of bad usage for pauses that are no one multiple of the specification's.
    pub fn of(file: &WorkloadFile) -> Result<Self, Failure> {
        let said = |flag: Option<bool>| flag.map(|on| if on { 1.0 } else { 0.0 });
        let keying = multiple(file, "preExecutionWait", |t| t.before, KEYING)?;
        let think = multiple(file, "postExecutionWait", |t| t.after, THINK)?;
        Ok(Self {
            keying: said(file.timing.keying).or(keying).unwrap_or(0.0),
            think: said(file.timing.think).or(think).unwrap_or(0.0),
        })
    }

    /// Whether there are any.
    pub fn any(self) -> bool {
        self != Self::NONE
    }

    /// The most transactions a second that so many terminals make, when replies take no time.
    pub fn most(self, terminals: u64, weights: &[f64; 5]) -> f64 {
        let pause = |kind: usize| self.keying * KEYING[kind] + self.think * THINK[kind];
        let cycle: f64 = (0..TPCC.len()).map(|k| weights[k] / 100.0 * pause(k)).sum();
        terminals as f64 / cycle
    }
}

/// The multiple of the specification's times that the file's are.
fn multiple(
    file: &WorkloadFile,
    element: &str,
    pause: fn(&Transaction) -> Option<Duration>,
    specified: [f64; 5],
) -> Result<Option<f64>, Failure> {
    let given = file.transactions.iter().filter_map(|t| {
        let pause = pause(t)?;
        Some((t.kind, pause.as_secs_f64() / specified[t.kind]))
    });
    let given: Vec<(usize, f64)> = given.collect();
    let Some((_, first)) = given.first().copied() else {
        return Ok(None);
    };
    let is_like = |other: f64| (other - first).abs() <= TOLERANCE * first.abs().max(other.abs());
    let complete = given.len() == file.transactions.len();
    if complete && given.iter().all(|(_, other)| is_like(*other)) {
        // Of milliseconds over seconds no more digits are meant.
        return Ok(Some((first * 1e4).round() / 1e4));
    }
    let example: Vec<String> = file
        .transactions
        .iter()
        .map(|t| format!("{} {}", TPCC[t.kind], specified[t.kind] * 1000.0))
        .collect();
    Err(Failure::usage(format!(
        "<{element}>: must be one multiple of the times of TPC-C, clause 5.2.5.7, at every \
         <transactiontype>, or at none; for example, in milliseconds, {}",
        example.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(types: &[(&str, &str)], more: &str) -> WorkloadFile {
        let types: String = types
            .iter()
            .map(|(name, pauses)| {
                format!("<transactiontype><name>{name}</name>{pauses}</transactiontype>")
            })
            .collect();
        let text =
            format!("<parameters>{more}<transactiontypes>{types}</transactiontypes></parameters>");
        WorkloadFile::parse(&text).unwrap()
    }

    fn pauses(before: u32, after: u32) -> String {
        format!(
            "<preExecutionWait>{before}</preExecutionWait>\
             <postExecutionWait>{after}</postExecutionWait>"
        )
    }

    #[test]
    fn flags_say_whether_terminals_key_and_think() {
        let of = |more: &str| WaitScale::of(&file(&[("Payment", "")], more)).unwrap();
        assert_eq!(of(""), WaitScale::NONE);
        let both = of("<useKeyingTime>true</useKeyingTime><useThinkTime>true</useThinkTime>");
        assert_eq!((both.keying, both.think), (1.0, 1.0));
        let think = of("<useKeyingTime>false</useKeyingTime><useThinkTime>true</useThinkTime>");
        assert_eq!((think.keying, think.think), (0.0, 1.0));
        assert!(think.any() && !WaitScale::NONE.any());
    }

    #[test]
    fn pauses_of_the_types_are_a_multiple() {
        let tenth = [
            ("NewOrder", pauses(1800, 1200)),
            ("Payment", pauses(300, 1200)),
            ("StockLevel", pauses(200, 500)),
        ];
        let tenth = tenth.each_ref().map(|(n, p)| (*n, p.as_str()));
        let waits = WaitScale::of(&file(&tenth, "")).unwrap();
        assert!((waits.keying - 0.1).abs() < 1e-9 && (waits.think - 0.1).abs() < 1e-9);
        let odd = [
            ("NewOrder", pauses(18_000, 12_000)),
            ("Payment", pauses(18_000, 12_000)),
        ];
        let odd = odd.each_ref().map(|(n, p)| (*n, p.as_str()));
        let said = WaitScale::of(&file(&odd, "")).unwrap_err().to_string();
        assert!(said.contains("<preExecutionWait>"), "{said}");
        assert!(said.contains("NewOrder 18000, Payment 3000"), "{said}");
        let part = [
            ("NewOrder", pauses(18_000, 12_000)),
            ("Payment", String::new()),
        ];
        let part = part.each_ref().map(|(n, p)| (*n, p.as_str()));
        assert!(WaitScale::of(&file(&part, "")).is_err());
    }

    #[test]
    fn terminals_that_pause_make_so_many_transactions() {
        let waits = WaitScale {
            keying: 1.0,
            think: 1.0,
        };
        let mix = [45.0, 43.0, 4.0, 4.0, 4.0];
        // 9.63 s of keying and 11.36 s of thinking, on average.
        assert!((waits.most(2099, &mix) - 100.0).abs() < 1e-9);
        // 12.86 New-Orders a minute is what ten terminals of a warehouse can make.
        let new_orders = waits.most(10, &mix) * 60.0 * 0.45;
        assert!((new_orders - 12.86).abs() < 0.01, "{new_orders}");
        assert!(WaitScale::NONE.most(10, &mix).is_infinite());
    }
}
