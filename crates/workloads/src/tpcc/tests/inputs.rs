//! What terminals type, at a fixed seed.

use super::super::input::{Input, InputGenerator, TransactionKind, UNUSED_ITEM, Who};
use super::super::terminal::Terminal;
use super::fixture::settings;
use crate::terminal::User as _;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Pearson's statistic of counts against their chances, in standard deviations from its mean.
fn deviation(counts: &[u64], chances: &[f64]) -> f64 {
    let all: u64 = counts.iter().sum();
    let terms = counts.iter().zip(chances).map(|(count, chance)| {
        let mean = chance * all as f64;
        (*count as f64 - mean).powi(2) / mean
    });
    let freedom = counts.len() as f64 - 1.0;
    (terms.sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
}

/// Whether `hits` of `of` are a share of `chance`, within four standard deviations.
fn is_share(hits: u64, of: u64, chance: f64) -> bool {
    let mean = chance * of as f64;
    (hits as f64 - mean).abs() < 4.0 * (mean * (1.0 - chance)).sqrt()
}

const DRAWS: u64 = 100_000;

fn inputs(kind: TransactionKind) -> Vec<Input> {
    let settings = settings(&[("warehouses", "10")]);
    let mut user = InputGenerator::new(&settings, 4, 100, 77);
    (0..DRAWS).map(|_| user.input(kind, &settings)).collect()
}

#[test]
fn a_hundred_transactions_of_a_terminal_are_the_mix_exactly() {
    let settings = settings(&[("weight", "44,42,5,5,4")]);
    let mut user = InputGenerator::new(&settings, 0, 10, 3);
    let mut orders = HashSet::new();
    for _ in 0..50 {
        let deck: Vec<_> = (0..100).map(|_| user.kind(&settings.weight)).collect();
        let dealt =
            TransactionKind::ALL.map(|kind| deck.iter().filter(|k| **k == kind).count() as u32);
        assert_eq!(dealt, settings.weight);
        let order: Vec<u8> = deck.iter().map(|kind| *kind as u8).collect();
        assert!(orders.insert(order), "a deck was not shuffled");
    }
}

#[test]
fn orders_are_typed_as_2_4_1_says() {
    let (mut lines, mut remote, mut unused, mut twice) = (0, 0, 0, 0);
    let mut counts = [0u64; 11];
    let mut districts = [0u64; 10];
    let mut quantities = [0u64; 10];
    let mut suppliers = [0u64; 10];
    for input in inputs(TransactionKind::NewOrder) {
        let Input::NewOrder(order) = input else {
            panic!("{input:?}");
        };
        let typed = order.lines();
        counts[typed.len() - 5] += 1;
        districts[usize::from(order.district) - 1] += 1;
        assert!((1..=3_000).contains(&order.customer));
        for (n, line) in typed.iter().enumerate() {
            lines += 1;
            quantities[usize::from(line.quantity) - 1] += 1;
            // Terminal 4 of 100 over 10 warehouses belongs to warehouse 5.
            remote += u64::from(line.warehouse != 5);
            suppliers[line.warehouse as usize - 1] += 1;
            let is_last = n + 1 == typed.len();
            assert!((1..=100_000).contains(&line.item) || (is_last && line.item == UNUSED_ITEM));
        }
        unused += u64::from(typed.iter().any(|line| line.item == UNUSED_ITEM));
        let items: HashSet<_> = typed.iter().map(|line| line.item).collect();
        twice += u64::from(items.len() < typed.len());
    }
    assert!(
        deviation(&counts, &[1.0 / 11.0; 11]).abs() < 4.0,
        "{counts:?}"
    );
    assert!(
        deviation(&districts, &[0.1; 10]).abs() < 4.0,
        "{districts:?}"
    );
    assert!(
        deviation(&quantities, &[0.1; 10]).abs() < 4.0,
        "{quantities:?}"
    );
    assert!(is_share(unused, DRAWS, 0.01), "{unused} rolled back");
    assert!(is_share(remote, lines, 0.01), "{remote} of {lines} remote");
    suppliers[4] = 0;
    let others: Vec<u64> = suppliers.into_iter().filter(|n| *n > 0).collect();
    assert!(
        deviation(&others, &[1.0 / 9.0; 9]).abs() < 4.0,
        "{others:?}"
    );
    assert!(twice > 0, "an item may be ordered twice");
}

#[test]
fn payments_are_typed_as_2_5_1_says() {
    let (mut remote, mut by_name, mut sum) = (0, 0, 0);
    let mut names = HashSet::new();
    for input in inputs(TransactionKind::Payment) {
        let Input::Payment(payment) = input else {
            panic!("{input:?}");
        };
        assert!((100..=500_000).contains(&payment.amount));
        sum += payment.amount;
        if payment.customer_warehouse == 5 {
            assert_eq!(payment.customer_district, payment.district);
        } else {
            remote += 1;
        }
        match payment.who {
            Who::LastName(name) => {
                by_name += 1;
                assert!(name < 1_000);
                names.insert(name);
            }
            Who::Number(number) => assert!((1..=3_000).contains(&number)),
        }
    }
    assert!(is_share(remote, DRAWS, 0.15), "{remote} remote");
    assert!(is_share(by_name, DRAWS, 0.6), "{by_name} by last name");
    let mean = sum as f64 / DRAWS as f64;
    assert!((mean - 250_050.0).abs() < 2_000.0, "{mean}");
    assert!(names.len() > 900, "{} names", names.len());
}

#[test]
fn the_others_are_typed_as_2_6_to_2_8_say() {
    let mut by_name = 0;
    for input in inputs(TransactionKind::OrderStatus) {
        let Input::OrderStatus(asked) = input else {
            panic!("{input:?}");
        };
        assert!((1..=10).contains(&asked.district));
        by_name += u64::from(asked.who.is_by_name());
    }
    assert!(is_share(by_name, DRAWS, 0.6), "{by_name}");
    let mut carriers = [0u64; 10];
    for input in inputs(TransactionKind::Delivery) {
        let Input::Delivery { carrier } = input else {
            panic!("{input:?}");
        };
        carriers[usize::from(carrier) - 1] += 1;
    }
    assert!(deviation(&carriers, &[0.1; 10]).abs() < 4.0, "{carriers:?}");
    let mut thresholds = [0u64; 11];
    for input in inputs(TransactionKind::StockLevel) {
        let Input::StockLevel { threshold } = input else {
            panic!("{input:?}");
        };
        thresholds[usize::from(threshold) - 10] += 1;
    }
    let d = deviation(&thresholds, &[1.0 / 11.0; 11]);
    assert!(d.abs() < 4.0, "{thresholds:?}");
}

#[test]
fn a_single_warehouse_has_no_other() {
    let settings = settings(&[("warehouses", "1")]);
    let mut user = InputGenerator::new(&settings, 0, 1, 1);
    for _ in 0..2_000 {
        match user.input(TransactionKind::NewOrder, &settings) {
            Input::NewOrder(order) => assert!(order.lines().iter().all(|l| l.warehouse == 1)),
            other => panic!("{other:?}"),
        }
        match user.input(TransactionKind::Payment, &settings) {
            Input::Payment(payment) => assert_eq!(payment.customer_warehouse, 1),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn terminals_are_spread_over_the_warehouses_of_their_client() {
    let options = [
        ("warehouses", "8"),
        ("first-warehouse", "3"),
        ("last-warehouse", "6"),
    ];
    let settings = settings(&options);
    let homes = |terminals: usize| -> Vec<(u32, u8)> {
        (0..terminals)
            .map(|n| InputGenerator::new(&settings, n, terminals, 1))
            .map(|user| (user.warehouse, user.district))
            .collect()
    };
    // Ten for each are one for each district (2.8.1.1).
    let forty: HashSet<_> = homes(40).into_iter().collect();
    let all = (3..=6)
        .flat_map(|w| (1..=10).map(move |d| (w, d)))
        .collect();
    assert_eq!(forty, all);
    // Fewer than there are warehouses are spread over all of them.
    let two: Vec<_> = homes(2).into_iter().map(|(w, _)| w).collect();
    assert_eq!(two, [3, 5]);
}

#[test]
fn a_seed_and_a_number_give_the_same_inputs_again_and_no_one_elses() {
    let settings = settings(&[]);
    let typed = |number, seed| -> Vec<Input> {
        let mut user = InputGenerator::new(&settings, number, 20, seed);
        (0..20)
            .map(|_| {
                let kind = user.kind(&settings.weight);
                user.input(kind, &settings)
            })
            .collect()
    };
    assert_eq!(typed(3, 1), typed(3, 1));
    assert_ne!(typed(3, 1), typed(4, 1));
    assert_ne!(typed(3, 1), typed(3, 2));
}

/// 5.2.5.7: of an endless run, a terminal's cycle is 21 seconds on average.
#[test]
fn pauses_follow_the_mix() {
    let waiting = Arc::new(settings(&[("wait", "on")]));
    let mut terminal = Terminal::new(Arc::clone(&waiting), 0, 20, 5);
    // The next type is chosen once, however often the pause is asked for.
    let shortest = (0..50).map(|_| terminal.pause()).min().unwrap();
    assert!(shortest >= Duration::from_secs(2), "{shortest:?}");
    let eager = Arc::new(settings(&[]));
    assert_eq!(Terminal::new(eager, 0, 20, 5).pause(), Duration::ZERO);
}

/// Ten thousand terminals take a few megabytes.
#[test]
fn a_terminal_fits_into_three_hundred_bytes() {
    assert!(size_of::<Terminal>() <= 296, "{}", size_of::<Terminal>());
}
