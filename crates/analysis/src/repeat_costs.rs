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
    /// Which repeats it is one of, by a number: a point's, a side's; `None` of a run that is no result, and
    /// loaded its server all the same.
    pub group: Option<usize>,
}

/// The costs of each repeat, with the numbers of its runs. A run divides all that a server did by its own
/// transactions: clients of one load have a common cost, and runs that were in each other's way only those of
/// their own sessions. To see that, all runs are to be given that may have been there.
pub fn costs_of_repeats(runs: &[RunCosts<'_>]) -> Vec<(Vec<usize>, Vec<Cost>)> {
    let presences: Vec<_> = runs.iter().map(|run| run.presence).collect();
    let result = |n: &usize| runs.get(*n).copied().filter(|run| run.group.is_some());
    let mut repeats = Vec::new();
    for load in loads(&presences) {
        let numbers = match load {
            Load::Run(n) => {
                repeats.extend(result(&n).map(|run| (vec![n], run.costs.to_vec())));
                continue;
            }
            Load::Clients(numbers) => {
                let clients: Option<Vec<RunCosts<'_>>> = numbers.iter().map(result).collect();
                let clients =
                    clients.filter(|all| all.windows(2).all(|w| w[0].group == w[1].group));
                if let Some(clients) = clients {
                    repeats.push((numbers, of_clients(&clients)));
                    continue;
                }
                numbers
            }
            Load::Disturbed(numbers) => numbers,
        };
        repeats.extend(numbers.into_iter().filter_map(|n| {
            let own = result(&n)?.costs.iter().filter(|cost| is_own(cost));
            Some((vec![n], own.cloned().collect()))
        }));
    }
    repeats
}

/// The same of two groups of records, of those of them that are figured.
pub(crate) fn of_records(
    a: &[RunRecord],
    b: &[RunRecord],
    is_figured: impl Fn(usize, &RunRecord) -> bool,
) -> [Vec<Vec<Cost>>; 2] {
    let runs = a
        .iter()
        .map(|run| (0, run))
        .chain(b.iter().map(|run| (1, run)));
    let runs: Vec<(usize, &RunRecord)> = runs.collect();
    let presences: Vec<_> = runs.iter().map(|(_, run)| Presence::of(run)).collect();
    let own: Vec<_> = runs.iter().map(|(_, run)| costs(run)).collect();
    let all = runs.iter().zip(&presences).zip(&own);
    let all = all.map(|(((side, run), presence), costs)| RunCosts {
        presence: presence.as_ref(),
        costs,
        transactions: run.totals.all.count,
        group: is_figured(*side, run).then_some(*side),
    });
    let repeats = costs_of_repeats(&all.collect::<Vec<_>>());
    let side_of = |numbers: &[usize]| numbers.first().and_then(|n| runs.get(*n)).map(|run| run.0);
    [0, 1].map(|side| {
        let own = repeats
            .iter()
            .filter(|(numbers, _)| side_of(numbers) == Some(side));
        own.map(|(_, costs)| costs.clone()).collect()
    })
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
        let common = match (is_own(of), of.source) {
            (true, _) => weighed,
            // Clients may share their host and its interface, or not.
            (false, CLIENT_HOST) => return None,
            (false, _) => shared,
        };
        let of_transactions = all
            .iter()
            .map(|(cost, transactions)| (cost.per_transaction, *transactions));
        let of_statements = all.iter().map(|(cost, transactions)| {
            let each = cost.per_statement?;
            let statements = transactions * cost.per_transaction / each;
            Some((
                each,
                if each > 0.0 {
                    statements
                } else {
                    *transactions
                },
            ))
        });
        let of_statements: Option<Vec<_>> = of_statements.collect();
        Some(Cost {
            per_transaction: common(&of_transactions.collect::<Vec<_>>())?,
            per_statement: of_statements.and_then(|all| common(&all)),
            ..of.clone()
        })
    };
    first.iter().filter_map(cost).collect()
}

/// The mean of what each client spent on its own transactions.
fn weighed(all: &[(f64, f64)]) -> Option<f64> {
    let weight: f64 = all.iter().map(|(_, weight)| weight).sum();
    let sum: f64 = all.iter().map(|(cost, weight)| cost * weight).sum();
    (weight > 0.0).then(|| sum / weight)
}

/// Each client divided the same by its own transactions: by all of them it is this. `None` where only some saw
/// anything of it.
fn shared(all: &[(f64, f64)]) -> Option<f64> {
    let nothing = all.iter().filter(|(cost, _)| *cost <= 0.0).count();
    match nothing {
        0 => {
            let parts = all.iter().map(|(cost, _)| cost.recip());
            Some(parts.sum::<f64>().recip())
        }
        _ if nothing == all.len() => Some(0.0),
        _ => None,
    }
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
            counted_by: None,
        };
        vec![
            cost(CostKind::ServerCpuUs, server_us, SERVER_PROCESS),
            cost(CostKind::ClientCpuUs, client_us, CLIENT_HOST),
            cost(CostKind::NetworkBytes, 7.0, CLIENT_HOST),
        ]
    }

    type Told = Vec<(CostKind, f64)>;

    fn of(runs: &[(u32, &[Cost], u64)]) -> Vec<(Vec<usize>, Told)> {
        let groups = vec![Some(0); runs.len()];
        of_groups(runs, &groups)
    }

    fn of_groups(
        runs: &[(u32, &[Cost], u64)],
        groups: &[Option<usize>],
    ) -> Vec<(Vec<usize>, Told)> {
        let presences: Vec<_> = runs.iter().map(|(second, ..)| presence(*second)).collect();
        let runs = runs.iter().zip(&presences).zip(groups);
        let runs = runs.map(|(((_, costs, transactions), presence), group)| RunCosts {
            presence: presence.as_ref(),
            costs,
            transactions: *transactions,
            group: *group,
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

    /// A client that failed, and a run of another workload at the same time.
    #[test]
    fn what_the_server_did_for_another_beside_it_is_nobodys() {
        let one = costs(6.0, 10.0);
        let own = vec![(CostKind::ClientCpuUs, 10.0)];
        let both: [(u32, &[Cost], u64); 2] = [(0, &one, 100), (0, &one, 100)];
        let found = of_groups(&both, &[Some(0), None]);
        assert_eq!(found, [(vec![0], own.clone())]);
        let found = of_groups(&both, &[Some(0), Some(1)]);
        assert_eq!(found, [(vec![0], own.clone()), (vec![1], own)]);
        assert!(of_groups(&both[..1], &[None]).is_empty());
    }

    #[test]
    fn statements_are_weighed_by_statements() {
        let client = |statements: f64, each: f64| {
            vec![Cost {
                kind: CostKind::ClientCpuUs,
                per_transaction: statements * each,
                per_statement: Some(each),
                source: CLIENT_HOST,
                counted_by: None,
            }]
        };
        // 200 statements of 10 µs and 2,000 of 1 µs.
        let (few, many) = (client(2.0, 10.0), client(20.0, 1.0));
        let run = |costs| RunCosts {
            presence: None,
            costs,
            transactions: 100,
            group: Some(0),
        };
        let found = of_clients(&[run(&few), run(&many)]);
        assert_eq!(found[0].per_transaction, 20.0);
        let each = found[0].per_statement.unwrap();
        assert!((each - 4000.0 / 2200.0).abs() < 1e-9, "{each}");
    }

    #[test]
    fn nothing_is_nothing_for_all_or_for_nobody() {
        assert_eq!(shared(&[(0.0, 1.0), (0.0, 1.0)]), Some(0.0));
        assert_eq!(shared(&[(0.0, 1.0), (2.0, 1.0)]), None);
        assert_eq!(weighed(&[(3.0, 0.0)]), None);
    }
}
