//! Clients of equal shares did not do the same.

use crate::run::Run;
use crate::texts::clients_unequal::{INSTEAD, LATENCY, THROUGHPUT};
use crate::thresholds::{
    CLIENTS_APART, CLIENTS_APART_SUSPECT, CLIENTS_ERRORS, CLIENTS_TRANSACTIONS,
};
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use tidemark_core::record::ClientPart;
use tidemark_stats::Histogram;

pub(super) const ID: &str = "clients-unequal";

/// What one client did.
struct Did<'r> {
    client: &'r ClientPart,
    /// Transactions a second of a session.
    each: f64,
    mean_ms: f64,
    /// By how much these may differ by chance, as a share of them.
    chance: [f64; 2],
}

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let there = run.record.clients.iter().filter(|c| !c.state.is_missing());
    let mut did = Vec::new();
    for client in there {
        let latency = run.latency_of(&client.all)?;
        did.extend(Did::of(client, &latency));
    }
    let by_throughput = apart(&did, |did| did.each, |did| did.chance[0]);
    let by_latency = apart(&did, |did| did.mean_ms, |did| did.chance[1]);
    let found = [(by_throughput, THROUGHPUT), (by_latency, LATENCY)];
    let widest = found
        .into_iter()
        .filter_map(|(apart, says)| Some((apart?, says)))
        .max_by(|a, b| a.0.share.total_cmp(&b.0.share));
    Ok(widest.map(|(apart, says)| finding(&apart, says)))
}

impl<'r> Did<'r> {
    /// `None` of a client that did too little to be compared.
    fn of(client: &'r ClientPart, latency: &Histogram) -> Option<Self> {
        let sessions = client.sessions_opened.unwrap_or(client.sessions) as f64;
        let count = client.all.count;
        if count < CLIENTS_TRANSACTIONS || sessions < 1.0 || latency.is_empty() {
            return None;
        }
        Some(Self {
            client,
            each: client.throughput() / sessions,
            mean_ms: latency.mean_ns() / 1e6,
            chance: [
                1.0 / (count as f64).sqrt(),
                spread(latency) / (count as f64).sqrt(),
            ],
        })
    }
}

/// The standard deviation of latencies over their mean, from the buckets.
fn spread(latency: &Histogram) -> f64 {
    let (mean, count) = (latency.mean_ns(), latency.count() as f64);
    let squares = latency.occupied().map(|(ns, n)| {
        let off = ns as f64 - mean;
        off * off * n as f64
    });
    (squares.sum::<f64>() / count.max(1.0)).sqrt() / mean.max(1.0)
}

/// The two clients that are furthest apart, beyond chance.
struct Apart {
    least: (String, f64),
    most: (String, f64),
    /// Their distance as a share of the larger one.
    share: f64,
}

fn apart(did: &[Did<'_>], of: fn(&Did<'_>) -> f64, chance: fn(&Did<'_>) -> f64) -> Option<Apart> {
    let least = did.iter().min_by(|a, b| of(a).total_cmp(&of(b)))?;
    let most = did.iter().max_by(|a, b| of(a).total_cmp(&of(b)))?;
    let share = 1.0 - of(least) / of(most);
    let by_chance = CLIENTS_ERRORS * chance(least).hypot(chance(most));
    // Written as "not above" so that no number is nothing, too.
    let is_apart = share >= CLIENTS_APART && share >= by_chance;
    is_apart.then(|| Apart {
        least: (least.client.name.clone(), of(least)),
        most: (most.client.name.clone(), of(most)),
        share,
    })
}

fn finding(apart: &Apart, says: Both) -> Finding {
    Finding {
        rule: ID,
        severity: match apart.share >= CLIENTS_APART_SUSPECT {
            true => Severity::Suspect,
            false => Severity::Note,
        },
        says,
        instead: INSTEAD,
        figures: vec![
            ("low", Figure::Text(apart.least.0.clone())),
            ("low_value", Figure::Number(apart.least.1)),
            ("high", Figure::Text(apart.most.0.clone())),
            ("high_value", Figure::Number(apart.most.1)),
            ("share", Figure::Number(apart.share * 100.0)),
        ],
    }
}
