//! Times that clients have in common.

use tidemark_core::record::{DeadSide, DeadTime, Outage};

/// Stretches in which nothing ended, in a record: shorter ones are not told (`tidemark-engine`).
const LEAST_MS: f64 = 800.0;
const LEAST_OF_CLIENTS_MS: f64 = 400.0;

/// Stretches in which no client's transactions ended. `None` where nobody looked.
pub(crate) fn dead_times(each: &[&[DeadTime]]) -> Option<Vec<DeadTime>> {
    let (first, others) = each.split_first()?;
    let mut common = first.to_vec();
    for other in others {
        let pairs = common
            .iter()
            .flat_map(|one| other.iter().filter_map(move |two| both(one, two)));
        common = pairs.collect();
    }
    Some(common)
}

/// What two stretches have in common.
fn both(one: &DeadTime, two: &DeadTime) -> Option<DeadTime> {
    let start_ms = one.start_ms.max(two.start_ms);
    let end = |dead: &DeadTime| dead.start_ms as f64 + dead.length_ms;
    let length_ms = end(one).min(end(two)) - start_ms as f64;
    // Where one client ran and heard nothing, it was not the clients.
    let side = match (one.side, two.side) {
        (DeadSide::Client, DeadSide::Client) => DeadSide::Client,
        _ => DeadSide::Target,
    };
    let least = match side {
        DeadSide::Client => LEAST_OF_CLIENTS_MS,
        DeadSide::Target => LEAST_MS,
    };
    (length_ms >= least).then_some(DeadTime {
        start_ms,
        length_ms,
        side,
        deadlocks: one.deadlocks.saturating_add(two.deadlocks),
    })
}

/// Times in which a host could not be reached by some client: those that overlap are one.
pub(crate) fn outages<'a>(each: impl Iterator<Item = &'a Outage>) -> Vec<Outage> {
    let mut all: Vec<Outage> = each.cloned().collect();
    all.sort_by(|a, b| (&a.host, a.start_ms).cmp(&(&b.host, b.start_ms)));
    let mut joined: Vec<Outage> = Vec::new();
    for one in all {
        let end = |outage: &Outage| outage.start_ms as f64 + outage.length_ms;
        match joined.last_mut() {
            Some(last) if last.host == one.host && one.start_ms as f64 <= end(last) => {
                last.length_ms = end(last).max(end(&one)) - last.start_ms as f64;
                last.ended &= one.ended;
            }
            _ => joined.push(one),
        }
    }
    joined.sort_by_key(|outage| outage.start_ms);
    joined
}

/// Milliseconds between two moments in which any host could not be reached by some client. `outages` are
/// in the order of their start.
pub(crate) fn outage_ms(outages: &[Outage], from_ms: f64, to_ms: f64) -> f64 {
    let (mut covered, mut reached) = (0.0, from_ms);
    for outage in outages {
        let start = (outage.start_ms as f64).max(reached);
        let end = (outage.start_ms as f64 + outage.length_ms).min(to_ms);
        if end > start {
            covered += end - start;
            reached = end;
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dead(start_ms: i64, length_ms: f64, side: DeadSide) -> DeadTime {
        DeadTime {
            start_ms,
            length_ms,
            side,
            deadlocks: 0,
        }
    }

    #[test]
    fn a_stretch_is_dead_when_it_is_for_all() {
        let (target, client) = (DeadSide::Target, DeadSide::Client);
        let one = [dead(1000, 2000.0, target), dead(9000, 500.0, client)];
        let two = [dead(1500, 4000.0, client), dead(8900, 550.0, client)];
        let both = dead_times(&[&one, &two]).unwrap();
        assert_eq!(
            both,
            [dead(1500, 1500.0, target), dead(9000, 450.0, client)]
        );
        assert_eq!(dead_times(&[&one, &two, &[]]), Some(Vec::new()));
        assert_eq!(dead_times(&[]), None);
    }

    #[test]
    fn outages_of_one_host_that_overlap_are_one() {
        let outage = |host: &str, start_ms, length_ms| Outage {
            host: host.into(),
            start_ms,
            length_ms,
            ended: true,
            first_error: "refused".into(),
        };
        let all = [
            outage("a", 0, 1000.0),
            outage("b", 500, 1000.0),
            outage("a", 900, 600.0),
            outage("a", 1600, 100.0),
        ];
        let joined = outages(all.iter());
        let wanted = [
            outage("a", 0, 1500.0),
            outage("b", 500, 1000.0),
            outage("a", 1600, 100.0),
        ];
        assert_eq!(joined, wanted);
        // Two hosts at once are one time.
        assert_eq!(outage_ms(&joined, 0.0, 10_000.0), 1600.0);
        assert_eq!(outage_ms(&joined, 1000.0, 1650.0), 550.0);
        assert_eq!(outage_ms(&joined, 5000.0, 9000.0), 0.0);
    }
}
