//! What a transaction of a repeat cost: of a run, or of all clients of one load.

use crate::concurrent_runs::{Load, Presence, loads};
use crate::costs::{Cost, CostKind, SESSIONS, costs};
use tidemark_core::observe::{CLIENT_HOST, NETWORK};
use tidemark_core::record::RunRecord;

/// A run's costs, and what they are weighed by.
#[derive(Debug, Clone, Copy)]
pub struct RunCosts<'r> {
    /// When and where its load was.
    pub presence: Option<&'r Presence>,
    /// What its transactions cost by the run's own account.
    pub costs: &'r [Cost],
    /// Its transactions.
    pub transactions: u64,
}

/// The costs of each repeat, with the numbers of its runs. A run divides all that a server did by its own
/// transactions: clients of one load have a common cost, and runs that were in each other's way only those of
/// their own sessions.
pub fn costs_of_repeats(runs: &[RunCosts<'_>]) -> Vec<(Vec<usize>, Vec<Cost>)> {
    let presences: Vec<_> = runs.iter().map(|run| run.presence).collect();
    let of = |n: &usize| runs.get(*n).copied();
    let mut repeats = Vec::new();
    for load in loads(&presences) {
        match load {
            Load::Run(n) => repeats.extend(of(&n).map(|run| (vec![n], run.costs.to_vec()))),
            Load::Clients(group) => {
                let clients: Vec<RunCosts<'_>> = group.iter().filter_map(of).collect();
                repeats.push((group, of_clients(&clients)));
            }
            Load::Disturbed(group) => repeats.extend(group.into_iter().filter_map(|n| {
                let own = of(&n)?.costs.iter().filter(|cost| is_own(cost));
                Some((vec![n], own.cloned().collect()))
            })),
        }
    }
    repeats
}

/// The same of records, without the numbers.
pub(crate) fn of_records(records: &[&RunRecord]) -> Vec<Vec<Cost>> {
    let presences: Vec<_> = records.iter().map(|run| Presence::of(run)).collect();
    let costs: Vec<_> = records.iter().map(|run| costs(run)).collect();
    let runs = records.iter().zip(&presences).zip(&costs);
    let runs = runs.map(|((run, presence), costs)| RunCosts {
        presence: presence.as_ref(),
        costs,
        transactions: run.totals.all.count,
    });
    let repeats = costs_of_repeats(&runs.collect::<Vec<_>>());
    repeats.into_iter().map(|(_, costs)| costs).collect()
}

/// Whether only the run's own sessions are in it.
fn is_own(cost: &Cost) -> bool {
    cost.kind == CostKind::ClientCpuUs || [SESSIONS, NETWORK].contains(&cost.source)
}

/// What all clients of a load have by one source.
fn of_clients(clients: &[RunCosts<'_>]) -> Vec<Cost> {
    let first = clients
        .first()
        .map(|client| client.costs)
        .unwrap_or_default();
    let cost = |of: &Cost| {
        let same = |cost: &&Cost| (cost.kind, cost.source) == (of.kind, of.source);
        let all = clients.iter().map(|client| {
            let found = client.costs.iter().find(same)?;
            Some((found, client.transactions as f64))
        });
        let all: Vec<(&Cost, f64)> = all.collect::<Option<_>>()?;
        let together = match (is_own(of), of.source) {
            (true, _) => weighed,
            // Clients may share their host and its interface, or not.
            (false, CLIENT_HOST) => return None,
            (false, _) => shared,
        };
        let statements = all
            .iter()
            .map(|(cost, weight)| Some((cost.per_statement?, *weight)));
        let transactions = all
            .iter()
            .map(|(cost, weight)| (cost.per_transaction, *weight));
        Some(Cost {
            per_transaction: together(&transactions.collect::<Vec<_>>()),
            per_statement: statements
                .collect::<Option<Vec<_>>>()
                .map(|all| together(&all)),
            ..of.clone()
        })
    };
    first.iter().filter_map(cost).collect()
}

/// The mean of what each client spent on its own transactions.
fn weighed(all: &[(f64, f64)]) -> f64 {
    let weight: f64 = all.iter().map(|(_, weight)| weight).sum();
    all.iter().map(|(cost, weight)| cost * weight).sum::<f64>() / weight
}

/// Each client divided the same by its own transactions: by all of them it is this.
fn shared(all: &[(f64, f64)]) -> f64 {
    all.iter()
        .map(|(cost, _)| cost.recip())
        .sum::<f64>()
        .recip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_core::observe::SERVER_PROCESS;
    use tidemark_core::record::Totals;

    fn presence(second: u32) -> Option<Presence> {
        Presence::of(&RunRecord {
            started_at: format!("2026-11-29T00:00:{second:02}Z"),
            target: "mysql://u@db1/d".into(),
            totals: Totals {
                elapsed_s: 20.0,
                ..Totals::default()
            },
            ..RunRecord::default()
        })
    }

    fn costs(server_us: f64, client_us: f64) -> Vec<Cost> {
        let cost = |kind, per_transaction, source| Cost {
            kind,
            per_transaction,
            per_statement: None,
            source,
        };
        vec![
            cost(CostKind::ServerCpuUs, server_us, SERVER_PROCESS),
            cost(CostKind::ClientCpuUs, client_us, CLIENT_HOST),
            cost(CostKind::NetworkBytes, 7.0, CLIENT_HOST),
        ]
    }

    type Told = Vec<(CostKind, f64)>;

    fn of(runs: &[(u32, &[Cost], u64)]) -> Vec<(Vec<usize>, Told)> {
        let presences: Vec<_> = runs.iter().map(|(second, ..)| presence(*second)).collect();
        let runs = runs.iter().zip(&presences);
        let runs = runs.map(|((_, costs, transactions), presence)| RunCosts {
            presence: presence.as_ref(),
            costs,
            transactions: *transactions,
        });
        let told = |costs: Vec<Cost>| costs.iter().map(|c| (c.kind, c.per_transaction)).collect();
        let repeats = costs_of_repeats(&runs.collect::<Vec<_>>());
        repeats
            .into_iter()
            .map(|(runs, costs)| (runs, told(costs)))
            .collect()
    }

    /// 600 µs of the server for 100 transactions of one client and for 200 of the other are 2 µs for each of
    /// the 300.
    #[test]
    fn clients_of_one_load_share_what_the_server_did() {
        let (few, many) = (costs(6.0, 10.0), costs(3.0, 4.0));
        let found = of(&[(0, &few, 100), (0, &many, 200), (40, &few, 100)]);
        let [(clients, together), (alone, own)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(
            (clients.as_slice(), alone.as_slice()),
            (&[0, 1][..], &[2][..])
        );
        let [
            (CostKind::ServerCpuUs, server),
            (CostKind::ClientCpuUs, client),
        ] = together.as_slice()
        else {
            panic!("{together:?}");
        };
        assert!(
            (server - 2.0).abs() < 1e-9 && (client - 6.0).abs() < 1e-9,
            "{together:?}"
        );
        assert_eq!((own.len(), own[0]), (3, (CostKind::ServerCpuUs, 6.0)));
    }

    #[test]
    fn what_the_server_did_for_runs_in_each_others_way_is_nobodys() {
        let one = costs(6.0, 10.0);
        let own = vec![(CostKind::ClientCpuUs, 10.0)];
        let found = of(&[(0, &one, 100), (10, &one, 100)]);
        assert_eq!(found, [(vec![0], own.clone()), (vec![1], own)]);
    }

    #[test]
    fn nothing_is_nothing_for_all() {
        assert_eq!(shared(&[(0.0, 1.0), (0.0, 1.0)]), 0.0);
    }
}
