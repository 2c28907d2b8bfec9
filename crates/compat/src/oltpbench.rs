//! The lines of the OLTPBench family's programs: what the YugabyteDB TPC-C client tells at the end
//! of a run, and BenchBase's throughput, so that who reads theirs can read ours.

use std::collections::BTreeMap;
use std::fmt::Write;
use tidemark_core::record::Totals;
use tidemark_report::{ReportError, TypeLatency, per_second};

/// TPC-C's types in the family's order.
const TYPES: [&str; 5] = [
    "NewOrder",
    "Payment",
    "OrderStatus",
    "Delivery",
    "StockLevel",
];
/// Done after the reply of a Delivery (clause 2.7.2): no transaction of a user.
const DEFERRED: &str = "DeferredDelivery";
/// The most New-Orders a minute that a warehouse's ten terminals make (clause 4.2.2 with 5.2.5.7).
const TPMC_PER_WAREHOUSE: f64 = 12.86;

/// What the family's table has no words for: it stands beside tables of response times.
const LATENCIES_ARE: &str = "(service times, from a session's first statement to its last reply; response \
    times have the wait of the last column in them)\n";

/// Phases that followed each other, added up.
#[derive(Debug, Clone, Default)]
pub struct Results {
    elapsed_s: f64,
    types: BTreeMap<String, TypeLatency>,
    rolled_back: u64,
}

impl Results {
    /// Takes a phase.
    ///
    /// # Errors
    /// [`ReportError::Histogram`].
    pub fn add(&mut self, totals: &Totals) -> Result<(), ReportError> {
        self.elapsed_s += totals.elapsed_s;
        self.rolled_back += totals.notes.get("rolled_back").copied().unwrap_or(0);
        for (name, stats) in &totals.types {
            let decoded = TypeLatency::decode(stats, name)?;
            self.types.entry(name.clone()).or_default().add(&decoded);
        }
        Ok(())
    }

    /// Transactions of users.
    pub fn count(&self) -> u64 {
        let users = self.types.iter().filter(|(name, _)| *name != DEFERRED);
        users.map(|(_, t)| t.count).sum()
    }

    /// New-Orders a minute.
    pub fn tpmc(&self) -> f64 {
        let new_orders = self.types.get(TYPES[0]).map_or(0, |t| t.count);
        per_second(new_orders, self.elapsed_s) * 60.0
    }

    /// The `RESULTS` table. Efficiency is told only where keying and think times make it mean
    /// something; `no_efficiency` says why it does not, and `warning` what makes it other than it
    /// seems.
    pub fn topline(
        &self,
        warehouses: u64,
        no_efficiency: Option<&str>,
        warning: Option<&str>,
    ) -> String {
        let tpmc = self.tpmc();
        let efficiency = match no_efficiency {
            Some(_) => format!("{:>18}", "n/a"),
            None => {
                let efficiency = 100.0 * tpmc / warehouses.max(1) as f64 / TPMC_PER_WAREHOUSE;
                format!("{efficiency:>17.2}%")
            }
        };
        let throughput = per_second(self.count(), self.elapsed_s);
        let mut text = format!(
            "\n================RESULTS================\n\
             {:>18} | {tpmc:>18.2}\n\
             {:>18} | {efficiency}\n\
             {:>18} | {throughput:>18.2}\n",
            "TPM-C", "Efficiency", "Throughput (req/s)"
        );
        if let Some(why) = no_efficiency {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "(no efficiency: {why})");
        } else if let Some(warning) = warning {
            let _ = writeln!(text, "(efficiency: {warning})");
        }
        text
    }

    /// The table of latencies, in milliseconds: service times, tries included, and what was waited
    /// for a session.
    pub fn latencies(&self) -> String {
        let mut text = String::from(
            "\n======================LATENCIES (INCLUDE RETRY ATTEMPTS)=====================\n \
             Transaction |  Count   | Avg. Latency | P99 Latency | Connection Acq Latency\n",
        );
        let mut all = TypeLatency::default();
        for name in TYPES {
            let nothing = TypeLatency::default();
            let latency = self.types.get(name).unwrap_or(&nothing);
            all.add(latency);
            text += &line(name, latency);
        }
        text += &line("All ", &all);
        text += LATENCIES_ARE;
        if let Some(deferred) = self.types.get(DEFERRED).filter(|t| t.count > 0) {
            text += &format!("(deferred, in no line above)\n{}", line(DEFERRED, deferred));
        }
        text
    }

    /// BenchBase's line.
    pub fn requests(&self) -> String {
        let (count, seconds) = (self.count(), self.elapsed_s);
        let good = count.saturating_sub(self.rolled_back);
        format!(
            "Rate limited reqs/s: Results(nanoSeconds={:.0}, measuredRequests={count}) = {} \
             requests/sec (throughput), {} requests/sec (goodput)\n",
            seconds * 1e9,
            per_second(count, seconds),
            per_second(good, seconds)
        )
    }

    /// Completed transactions by type, for `--histograms`.
    pub fn completed(&self) -> String {
        let mut text = String::from("\nCompleted Transactions:\n");
        for (name, latency) in &self.types {
            let _ = writeln!(text, "{name:<20} [{:>8}]", latency.count);
        }
        text
    }
}

/// As the family prints it: -1.00 for what there is none of.
fn line(name: &str, latency: &TypeLatency) -> String {
    let h = &latency.service;
    let (mean, p99) = match h.is_empty() {
        true => (-1.0, -1.0),
        false => (h.mean_ns() / 1e6, h.percentile_ns(99.0) as f64 / 1e6),
    };
    let waited = match &latency.wait {
        Some(wait) => wait.mean_ns() / 1e6,
        None if h.is_empty() => -1.0,
        None => 0.0,
    };
    format!(
        "{name:>12} |{:>9} |{mean:>13.2} |{p99:>12.2} |{waited:>23.2}\n",
        latency.count
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tidemark_core::record::{EncodedHistogram, TypeStats};
    use tidemark_stats::Histogram;

    fn stats(ms: u64, count: u64, wait: Option<u64>) -> TypeStats {
        let of = |ms| {
            let mut h = Histogram::new();
            (0..count).for_each(|_| h.record(Duration::from_millis(ms)));
            EncodedHistogram(h.encode())
        };
        TypeStats {
            count,
            service: of(ms),
            server: None,
            response: wait.map(|wait| of(ms + wait)),
            wait: wait.map(of),
            ..TypeStats::default()
        }
    }

    fn results() -> Results {
        let mut results = Results::default();
        for seconds in [20.0, 40.0] {
            let mut totals = Totals {
                elapsed_s: seconds,
                ..Totals::default()
            };
            totals
                .types
                .insert("NewOrder".into(), stats(10, 45, Some(2)));
            totals.types.insert("Payment".into(), stats(4, 43, Some(0)));
            totals.types.insert(DEFERRED.into(), stats(30, 4, None));
            totals.notes.insert("rolled_back".into(), 3);
            results.add(&totals).unwrap();
        }
        results
    }

    #[test]
    fn phases_are_added_up() {
        let results = results();
        assert_eq!(results.count(), 176);
        assert_eq!(results.tpmc(), 90.0);
        assert_eq!(
            results.topline(10, None, None),
            "\n================RESULTS================\n\
             \u{20}            TPM-C |              90.00\n\
             \u{20}       Efficiency |             69.98%\n\
             Throughput (req/s) |               2.93\n"
        );
    }

    #[test]
    fn no_efficiency_is_told_without_think_times() {
        let said = results().topline(10, Some("terminals have no keying or think times"), None);
        assert!(
            said.contains("        Efficiency |                n/a\n"),
            "{said}"
        );
        assert!(
            said.ends_with("(no efficiency: terminals have no keying or think times)\n"),
            "{said}"
        );
    }

    #[test]
    fn latencies_are_the_familys_table() {
        assert_eq!(
            results().latencies(),
            "\n======================LATENCIES (INCLUDE RETRY ATTEMPTS)=====================\n\
             \u{20}Transaction |  Count   | Avg. Latency | P99 Latency | Connection Acq Latency\n\
             \u{20}   NewOrder |       90 |        10.00 |       10.00 |                   2.00\n\
             \u{20}    Payment |       86 |         4.00 |        4.00 |                   0.00\n\
             \u{20}OrderStatus |        0 |        -1.00 |       -1.00 |                  -1.00\n\
             \u{20}   Delivery |        0 |        -1.00 |       -1.00 |                  -1.00\n\
             \u{20} StockLevel |        0 |        -1.00 |       -1.00 |                  -1.00\n\
             \u{20}       All  |      176 |         7.07 |       10.00 |                   1.02\n\
             (service times, from a session's first statement to its last reply; response \
             times have the wait of the last column in them)\n\
             (deferred, in no line above)\n\
             DeferredDelivery |        8 |        30.00 |       30.00 |                   0.00\n"
        );
    }

    #[test]
    fn requests_are_benchbases_line() {
        let said = results().requests();
        let begins =
            "Rate limited reqs/s: Results(nanoSeconds=60000000000, measuredRequests=176) = ";
        assert!(said.starts_with(begins), "{said}");
        assert!(
            said.ends_with("2.8333333333333335 requests/sec (goodput)\n"),
            "{said}"
        );
    }

    #[test]
    fn nothing_measured_is_no_figure_that_breaks() {
        let results = Results::default();
        for text in [
            results.topline(0, None, None),
            results.latencies(),
            results.requests(),
        ] {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
