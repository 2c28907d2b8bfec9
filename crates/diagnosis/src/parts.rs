//! Where a mean latency passes, in parts that add up to it.

use crate::{Part, PartKind, Split, WaitClass};

/// Milliseconds of one mean transaction, as far as they are known. They come from different clocks and
/// from samples, so that together they may be more than what was measured.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct MeanParts {
    /// The mean latency.
    pub mean_ms: f64,
    /// Waiting for a free session.
    pub waiting_ms: f64,
    /// What its own script paused.
    pub paused_ms: f64,
    /// In the client, its lateness included.
    pub client_ms: Option<f64>,
    /// Whether there is no way to the server: the database is in the client's process.
    pub is_embedded: bool,
    /// Round trips that are known to be added.
    pub added_ms: f64,
    /// Sessions at a statement in the server, as time: nothing of this is on the way.
    pub in_server_ms: Option<f64>,
    /// On the server's CPU.
    pub server_cpu_ms: Option<f64>,
    /// The server's waits.
    pub waits_ms: Vec<(WaitClass, f64)>,
}

fn positive(ms: f64) -> f64 {
    match ms.is_finite() {
        true => ms.max(0.0),
        false => 0.0,
    }
}

impl MeanParts {
    /// The parts. What the client's own clock says comes first; what is left is the server's and the
    /// way's. If the server's parts are more than that, each is made smaller by the same factor.
    pub fn split(&self) -> Split {
        self.split_and_over().0
    }

    /// The parts, and what the server's come to by what is left of the mean for them.
    pub fn split_and_over(&self) -> (Split, f64) {
        let mean_ms = positive(self.mean_ms);
        let (mut left, mut beyond) = (mean_ms, 0.0);
        let mut take = |ms: f64| {
            let taken = positive(ms).min(left);
            left -= taken;
            beyond += positive(ms) - taken;
            taken
        };
        let waiting = take(self.waiting_ms);
        let paused = take(self.paused_ms);
        let client = self.client_ms.map(&mut take);
        let added = take(self.added_ms);
        let cpu = self.server_cpu_ms.map(positive);
        let waits = self
            .waits_ms
            .iter()
            .map(|(class, ms)| (*class, positive(*ms)));
        let explained = cpu.unwrap_or(0.0) + waits.clone().map(|(_, ms)| ms).sum::<f64>();
        let factor = match explained > left {
            true => left / explained,
            false => 1.0,
        };
        let over = explained / left.max(1e-9);
        beyond += positive(explained - left);
        let explained = explained.min(left);
        // Time in which no session was at a statement is the way's, unless it is explained already.
        let in_server = self.in_server_ms.map(|ms| positive(ms).max(explained));
        let on_way = match self.is_embedded {
            true => 0.0,
            false => in_server.map_or(0.0, |ms| positive(left - ms)),
        };
        let unexplained = positive(left - explained - on_way);

        let part = |part, ms| Part {
            part,
            class: None,
            ms,
        };
        let mut parts = vec![part(PartKind::WaitingForSession, waiting)];
        parts.push(part(PartKind::Paused, paused));
        parts.extend(client.map(|ms| part(PartKind::Client, ms)));
        parts.push(part(PartKind::Network, added + on_way));
        parts.extend(cpu.map(|ms| part(PartKind::ServerCpu, ms * factor)));
        parts.extend(waits.map(|(class, ms)| Part {
            part: PartKind::ServerWait,
            class: Some(class),
            ms: ms * factor,
        }));
        parts.push(part(PartKind::Unexplained, unexplained));
        parts.retain(|p| p.ms > 0.0);
        let split = Split {
            of: None,
            mean_ms,
            measured_ms: mean_ms - unexplained + beyond,
            parts,
        };
        (split, over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn known() -> MeanParts {
        MeanParts {
            mean_ms: 10.0,
            client_ms: Some(1.0),
            in_server_ms: Some(6.0),
            server_cpu_ms: Some(2.0),
            waits_ms: vec![(WaitClass::Log, 3.0)],
            ..MeanParts::default()
        }
    }

    #[test]
    fn what_is_left_of_the_server_is_unexplained_and_the_rest_the_ways() {
        let split = known().split();
        let of = |part| (split.ms(part) * 1e6).round() / 1e6;
        assert_eq!(of(PartKind::Client), 1.0);
        assert_eq!(of(PartKind::ServerCpu), 2.0);
        assert_eq!(of(PartKind::ServerWait), 3.0);
        assert_eq!(of(PartKind::Unexplained), 1.0);
        assert_eq!(of(PartKind::Network), 3.0);
    }

    #[test]
    fn what_was_measured_is_told_beside_what_adds_up() {
        let measured = |known: MeanParts| (known.split().measured_ms * 1e6).round() / 1e6;
        assert_eq!(measured(known()), 9.0, "1 of 10 is unexplained");
        let more = MeanParts {
            client_ms: Some(8.0),
            ..known()
        };
        assert_eq!(measured(more), 13.0, "8 in the client, 5 in the server");
        let longer = MeanParts {
            client_ms: Some(12.0),
            ..known()
        };
        assert_eq!(measured(longer), 17.0);
    }

    #[test]
    fn without_samples_of_sessions_nothing_is_called_network() {
        let split = MeanParts {
            in_server_ms: None,
            ..known()
        }
        .split();
        assert_eq!(split.ms(PartKind::Network), 0.0);
        assert_eq!(split.ms(PartKind::Unexplained), 4.0);
    }

    #[test]
    fn a_process_that_works_beside_its_sessions_makes_no_more_than_there_is() {
        let split = MeanParts {
            server_cpu_ms: Some(27.0),
            ..known()
        }
        .split();
        assert!((split.ms(PartKind::ServerCpu) - 8.1).abs() < 1e-9);
        assert!((split.wait_ms(WaitClass::Log) - 0.9).abs() < 1e-9);
    }

    fn ms() -> impl Strategy<Value = f64> {
        prop_oneof![
            0.0..1000.0,
            Just(0.0),
            Just(-1.0),
            Just(f64::NAN),
            Just(f64::INFINITY)
        ]
    }

    proptest! {
        #[test]
        fn parts_add_up_and_are_never_negative(
            mean_ms in 0.0..1000.0, waiting_ms in ms(), added_ms in ms(), is_embedded: bool,
            client_ms in proptest::option::of(ms()), in_server_ms in proptest::option::of(ms()), paused_ms in ms(),
            server_cpu_ms in proptest::option::of(ms()), log in ms(), rows in ms(),
        ) {
            let waits_ms = vec![(WaitClass::Log, log), (WaitClass::RowLock, rows)];
            let known = MeanParts {
                mean_ms, waiting_ms, paused_ms, client_ms, is_embedded, added_ms, in_server_ms, server_cpu_ms, waits_ms,
            };
            let split = known.split();
            let sum: f64 = split.parts.iter().map(|p| p.ms).sum();
            prop_assert!((sum - mean_ms).abs() <= 1e-9 * mean_ms.max(1.0), "{split:?}");
            prop_assert!(split.parts.iter().all(|p| p.ms > 0.0), "{split:?}");
        }
    }
}
