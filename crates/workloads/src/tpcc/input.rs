//! What a user types at a terminal: clauses 2.4.1, 2.5.1, 2.6.1, 2.7.1 and 2.8.1.

use super::nurand::{NuRand, RunNumbers};
use super::{CUSTOMERS, DISTRICTS, ITEMS, Settings};
use crate::random::{Permutation, Rng};

/// Most lines of an order (2.4.1.3).
pub(super) const MOST_LINES: usize = 15;
/// An item that no catalogue has (2.4.1.5).
pub(super) const UNUSED_ITEM: u32 = ITEMS as u32 + 1;

/// A transaction type that a user chooses from the menu, in the order of
/// [`super::TRANSACTION_TYPES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionKind {
    NewOrder,
    Payment,
    OrderStatus,
    Delivery,
    StockLevel,
}

impl TransactionKind {
    pub const ALL: [TransactionKind; 5] = [
        TransactionKind::NewOrder,
        TransactionKind::Payment,
        TransactionKind::OrderStatus,
        TransactionKind::Delivery,
        TransactionKind::StockLevel,
    ];

    /// The type of a card, of a hundred.
    fn of_card(card: u64, weight: &[u32; 5]) -> TransactionKind {
        let mut end = 0;
        for (kind, weight) in TransactionKind::ALL.into_iter().zip(weight) {
            end += u64::from(*weight);
            if card < end {
                return kind;
            }
        }
        TransactionKind::NewOrder
    }

    /// A type by chance alone.
    pub fn draw(weight: &[u32; 5], rng: &mut Rng) -> TransactionKind {
        TransactionKind::of_card(rng.below(CARDS.into()), weight)
    }
}

/// One line of an order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OrderLineInput {
    pub item: u32,
    /// The warehouse that supplies it.
    pub warehouse: u32,
    pub quantity: u8,
}

/// The input of New-Order (2.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NewOrder {
    pub district: u8,
    pub customer: u16,
    count: u8,
    lines: [OrderLineInput; MOST_LINES],
}

impl NewOrder {
    #[cfg(test)]
    pub fn of(district: u8, customer: u16, given: &[OrderLineInput]) -> Self {
        let mut lines = [OrderLineInput::default(); MOST_LINES];
        lines[..given.len()].copy_from_slice(given);
        Self {
            district,
            customer,
            count: given.len() as u8,
            lines,
        }
    }

    pub fn lines(&self) -> &[OrderLineInput] {
        &self.lines[..usize::from(self.count)]
    }
}

/// How a customer is named: 60 % by last name, else by number (2.5.1.2, 2.6.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    /// The number of the last name, 0 to 999.
    LastName(u16),
    Number(u16),
}

/// The input of Payment (2.5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payment {
    pub district: u8,
    pub customer_warehouse: u32,
    pub customer_district: u8,
    pub who: Who,
    /// In hundredths.
    pub amount: i64,
}

/// The input of Order-Status (2.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OrderStatus {
    pub district: u8,
    pub who: Who,
}

/// What was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    /// The carrier's number (2.7.1.2).
    Delivery {
        carrier: u8,
    },
    /// The threshold of the stock (2.8.1.2).
    StockLevel {
        threshold: u8,
    },
}

impl Input {
    /// The type that it is of.
    pub fn kind(&self) -> TransactionKind {
        match self {
            Input::NewOrder(_) => TransactionKind::NewOrder,
            Input::Payment(_) => TransactionKind::Payment,
            Input::OrderStatus(_) => TransactionKind::OrderStatus,
            Input::Delivery { .. } => TransactionKind::Delivery,
            Input::StockLevel { .. } => TransactionKind::StockLevel,
        }
    }
}

/// Chooses inputs for one terminal.
#[derive(Debug)]
pub(super) struct InputGenerator {
    rng: Rng,
    /// The home warehouse (2.4.1.1).
    pub warehouse: u32,
    /// The district of Stock-Level (2.8.1.1).
    pub district: u8,
    /// C of last names, customers and items (2.1.6.1).
    c: [u16; 3],
    /// The deck in use, and how many of its cards are dealt.
    deck: u64,
    dealt: u8,
}

/// Tells terminals' random numbers from those of rows.
const STREAM: u64 = 0x7465_726d_696e;
/// Cards of a deck: the weights are hundredths.
const CARDS: u8 = 100;

impl InputGenerator {
    /// The `number`-th of `terminals`. They are spread over the warehouses of this run: ten
    /// terminals for each are one for each of its districts.
    pub fn new(settings: &Settings, number: usize, terminals: usize, seed: u64) -> Self {
        let (number, terminals) = (number as u64, terminals as u64);
        let first = settings.first_warehouse;
        let warehouses = (settings.last_warehouse + 1).saturating_sub(first).max(1);
        let (at, district) = if terminals >= warehouses {
            (number % warehouses, number / warehouses)
        } else {
            (number * warehouses / terminals.max(1), number)
        };
        let run = RunNumbers::of(seed);
        let mut rng = Rng::of(&[seed, STREAM, first, number]);
        Self {
            deck: rng.bits(),
            rng,
            warehouse: u32::try_from(first + at).unwrap_or(u32::MAX),
            district: (district % DISTRICTS) as u8 + 1,
            c: [run.last_name.c(), run.customer.c(), run.item.c()].map(|c| c as u16),
            dealt: 0,
        }
    }

    pub fn rng(&mut self) -> &mut Rng {
        &mut self.rng
    }

    /// The next type, from a shuffled deck that holds a card for each hundredth of the mix: the
    /// second of the ways that 5.2.4.2 names. A new deck follows when all its cards are dealt.
    pub fn kind(&mut self, weight: &[u32; 5]) -> TransactionKind {
        if self.dealt == CARDS {
            (self.deck, self.dealt) = (self.rng.bits(), 0);
        }
        let card = Permutation::new(CARDS.into(), self.deck).of(self.dealt.into());
        self.dealt += 1;
        TransactionKind::of_card(card, weight)
    }

    /// The input of a transaction.
    pub fn input(&mut self, kind: TransactionKind, settings: &Settings) -> Input {
        match kind {
            TransactionKind::NewOrder => Input::NewOrder(self.new_order(settings)),
            TransactionKind::Payment => Input::Payment(self.payment(settings)),
            TransactionKind::OrderStatus => Input::OrderStatus(OrderStatus {
                district: self.any_district(),
                who: self.who(),
            }),
            TransactionKind::Delivery => Input::Delivery {
                carrier: self.between(1, 10) as u8,
            },
            TransactionKind::StockLevel => Input::StockLevel {
                threshold: self.between(10, 20) as u8,
            },
        }
    }

    fn new_order(&mut self, settings: &Settings) -> NewOrder {
        let mut order = NewOrder {
            district: self.any_district(),
            customer: self.customer(),
            count: self.between(5, MOST_LINES as u64) as u8,
            lines: [OrderLineInput::default(); MOST_LINES],
        };
        // 2.4.1.4: one of a hundred is to be rolled back.
        let rolls_back = self.between(1, 100) == 1;
        let count = usize::from(order.count);
        for line in &mut order.lines[..count] {
            *line = OrderLineInput {
                item: NuRand::item(self.c[2].into()).draw(&mut self.rng) as u32,
                // 2.4.1.5: one line of a hundred comes from another warehouse.
                warehouse: match self.between(1, 100) {
                    1 => self.other_warehouse(settings),
                    _ => self.warehouse,
                },
                quantity: self.between(1, 10) as u8,
            };
        }
        if rolls_back {
            order.lines[count - 1].item = UNUSED_ITEM;
        }
        order
    }

    fn payment(&mut self, settings: &Settings) -> Payment {
        let district = self.any_district();
        // 2.5.1.2: fifteen of a hundred pay at a warehouse that is not their own.
        let (customer_warehouse, customer_district) = if self.between(1, 100) <= 85 {
            (self.warehouse, district)
        } else {
            (self.other_warehouse(settings), self.any_district())
        };
        Payment {
            district,
            customer_warehouse,
            customer_district,
            who: self.who(),
            amount: self.between(100, 500_000) as i64,
        }
    }

    fn who(&mut self) -> Who {
        if self.between(1, 100) <= 60 {
            let name = NuRand::last_name(self.c[0].into()).draw(&mut self.rng);
            Who::LastName(name as u16)
        } else {
            Who::Number(self.customer())
        }
    }

    fn customer(&mut self) -> u16 {
        const { assert!(CUSTOMERS <= u16::MAX as u64) };
        NuRand::customer(self.c[1].into()).draw(&mut self.rng) as u16
    }

    fn any_district(&mut self) -> u8 {
        self.between(1, DISTRICTS) as u8
    }

    /// Any warehouse of the database but the home one, if there is another: also those that have
    /// their terminals at another client.
    fn other_warehouse(&mut self, settings: &Settings) -> u32 {
        let others = settings.warehouses.saturating_sub(1);
        if others == 0 {
            return self.warehouse;
        }
        let drawn = self.between(1, others) as u32;
        drawn + u32::from(drawn >= self.warehouse)
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.rng.below(most - least + 1)
    }
}
