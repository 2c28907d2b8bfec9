//! BenchmarkSQL: its rates, its count and its session's time determine each other.

use super::super::equations::{Equation, told};
use super::super::view::{ImportedRun, Range};
use super::equation;
use crate::thresholds::{
    CHANCE, NEW_ORDERS_APART, SESSION_APART, SESSION_APART_S, STATED_APART, STATED_TIME_APART,
};
use crate::{Finding, Severity};

/// Percent of New-Orders where no weight is stated.
const USUAL_WEIGHT: f64 = 45.0;

/// The rate of all transactions is their count by the session's time, or by the minutes asked for where
/// the session is not quoted. The count leaves out one.
pub(super) fn equations(view: &ImportedRun<'_>) -> Vec<Equation> {
    let asked = view.number("time").filter(|s| *s > 0.0);
    let asked = asked.map(|s| Range::exact(s, view.line_of("time")));
    let (seconds, follows, share) = match view.all("elapsed_s") {
        Some(took) => (Some(took), "tpm_total × elapsed_s / 60", STATED_APART),
        None => (asked, "tpm_total × runMins", STATED_TIME_APART),
    };
    let made = view.all("tpm_total").zip(seconds).map(|(n, s)| {
        let minutes = s.times(Range::exact(1.0 / 60.0, s.line));
        n.times(minutes)
    });
    let sides = (view.all("count"), made);
    vec![equation("count", follows, sides, share, 1.0)]
}

/// What something rare may explain.
pub(super) fn unlikely(view: &ImportedRun<'_>) -> Vec<Finding> {
    session(view).into_iter().chain(new_orders(view)).collect()
}

/// The session's time beside the minutes asked for: it ends when its last transactions do, and earlier
/// where somebody ended it.
fn session(view: &ImportedRun<'_>) -> Option<Finding> {
    let took = view.all("elapsed_s")?;
    let asked = view.number("time").filter(|s| *s > 0.0)?;
    let is_long = took.low > asked * (1.0 + SESSION_APART) + SESSION_APART_S;
    let is_short = took.high < asked * (1.0 - SESSION_APART);
    let from = "runMins × 60";
    let told = || {
        told(
            Severity::Suspect,
            "elapsed_s",
            took.value,
            from,
            asked,
            took.line,
        )
    };
    (is_long || is_short).then(told)
}

/// New-Orders beside all transactions: they are what the weights of the other types leave. Who states no
/// weights may have changed them.
fn new_orders(view: &ImportedRun<'_>) -> Option<Finding> {
    let (orders, all) = view.all("tpmc").zip(view.all("tpm_total"))?;
    // Of more New-Orders than transactions another rule speaks.
    if all.value <= 0.0 || orders.value > all.value {
        return None;
    }
    let others = [
        "paymentWeight",
        "orderStatusWeight",
        "deliveryWeight",
        "stockLevelWeight",
    ];
    let others: Option<f64> = others.into_iter().map(|name| view.number(name)).sum();
    let rest = others.map(|sum| 100.0 - sum);
    let stated = view.number("newOrderWeight").or(rest);
    let weight = stated.unwrap_or(USUAL_WEIGHT);
    let (low, high) = (
        weight.min(rest.unwrap_or(weight)) / 100.0,
        weight.max(rest.unwrap_or(weight)) / 100.0,
    );
    let count = view.all("count").map_or(all.value, |n| n.value).max(1.0);
    let apart = NEW_ORDERS_APART + CHANCE * 0.5 / count.sqrt();
    let share = orders.value / all.value;
    let is_off = share < low - apart || share > high + apart;
    let (severity, from) = match stated {
        Some(_) => (Severity::Suspect, "tpm_total × newOrderWeight / 100"),
        None => (Severity::Note, "tpm_total × 45 / 100"),
    };
    let made = all.value * weight / 100.0;
    is_off.then(|| told(severity, "tpmc", orders.value, from, made, orders.line))
}
