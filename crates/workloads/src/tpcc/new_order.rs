//! New-Order: clause 2.4.
//!
//! Rows are locked in the order stock (by key), district, so that two orders can't wait for each
//! other, and the district, which every tenth order of a warehouse wants, is locked last and for
//! the shortest time.

use super::input::{MOST_LINES, NewOrder, OrderLineInput, UNUSED_ITEM};
use super::sql::Sql;
use super::work::{Arrays, Money, Now, TransactionWork, missing};
use tidemark_core::DbError;
use tidemark_drivers::Value;

/// A stock that falls below this is filled up (2.4.2.2).
const LEAST_STOCK: i64 = 10;
/// By so many.
const REFILL: i64 = 91;
/// Longest `s_dist_xx`.
const DIST: usize = 24;

/// What the terminal shows of an order (2.4.3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entered {
    /// Its number.
    pub order: i64,
    /// What it costs, tax and discount included, in hundredths, rounded down.
    pub total: i64,
    /// It named an item that does not exist, and was rolled back (2.4.2.3).
    pub rolled_back: bool,
}

/// A line on its way.
#[derive(Debug, Clone, Copy, Default)]
struct PricedLine {
    line: OrderLineInput,
    /// Its place in the order, from 1.
    number: u8,
    /// `i_price`, in hundredths.
    price: i64,
    found: bool,
    /// Whether `i_data` holds `ORIGINAL`, and `s_data` too: the output's brand "B", else "G".
    brand: bool,
    dist: [u8; DIST],
    dist_len: u8,
}

impl PricedLine {
    fn amount(&self) -> i64 {
        self.price * i64::from(self.line.quantity)
    }

    fn dist(&self) -> &str {
        std::str::from_utf8(&self.dist[..usize::from(self.dist_len)]).unwrap_or_default()
    }
}

/// What becomes of one row of stock. An order may name an item twice.
#[derive(Debug, Clone, Copy, Default)]
struct Stock {
    warehouse: i64,
    item: i64,
    quantity: i64,
    ordered: i64,
    lines: i64,
    remote: i64,
}

impl Stock {
    /// Takes a line's quantity (2.4.2.2).
    fn take(&mut self, line: &OrderLineInput, home: i64) {
        let ordered = i64::from(line.quantity);
        self.quantity -= ordered;
        if self.quantity < LEAST_STOCK {
            self.quantity += REFILL;
        }
        self.ordered += ordered;
        self.lines += 1;
        self.remote += i64::from(i64::from(line.warehouse) != home);
    }

    fn values(&self) -> [Value<'static>; 6] {
        [
            self.quantity,
            self.ordered,
            self.lines,
            self.remote,
            self.warehouse,
            self.item,
        ]
        .map(Value::Int)
    }
}

/// Enters an order; the database transaction is ended when this returns without an error.
pub(super) async fn enter(
    work: &mut TransactionWork<'_>,
    input: &NewOrder,
) -> Result<Entered, DbError> {
    let style = work.sql.style();
    let home = work.warehouse;
    let (district, customer) = (i64::from(input.district), i64::from(input.customer));
    let now = Now::read();
    let mut parts = [PricedLine::default(); MOST_LINES];
    let parts = &mut parts[..input.lines().len()];
    for ((part, line), number) in parts.iter_mut().zip(input.lines()).zip(1..) {
        (part.line, part.number) = (*line, number);
    }
    // The order of locks.
    parts.sort_unstable_by_key(|p| (p.line.warehouse, p.line.item, p.number));

    work.execute_ahead(Sql::Begin, &[]).await?;
    if style.batched {
        items(work, parts).await?;
    } else {
        for part in &mut *parts {
            item(work, part).await?;
            if part.found {
                one_stock(work, part, district).await?;
            }
        }
    }
    // 2.4.2.3: all is done of an order that is to be rolled back, but of the unused item there is
    // neither stock nor a line.
    parts.sort_unstable_by_key(|p| (!p.found, p.line.warehouse, p.line.item, p.number));
    let found = parts.iter().filter(|p| p.found).count();
    let rolled_back = found < parts.len();
    if style.batched {
        stock(work, &mut parts[..found], district).await?;
    }
    let lines = &parts[..found];

    let what = "the customer and warehouse of an order";
    let values = [home, home, district, customer].map(Value::Int);
    work.fetch_one(Sql::BuyerAndWarehouse, &values, what)
        .await?;
    let discount = work.decimal(0, 0, 4, "c_discount")?;
    let warehouse_tax = work.decimal(0, 3, 4, "w_tax")?;

    let place = [home, district].map(Value::Int);
    work.fetch_one(Sql::NextOrder, &place, "the district of an order")
        .await?;
    let order = work.int(0, 0, "d_next_o_id")?;
    let tax = warehouse_tax + work.decimal(0, 1, 4, "d_tax")?;
    if !style.returning {
        let values = [order + 1, home, district].map(Value::Int);
        work.change_ahead(Sql::AdvanceOrder, &values, 1).await?;
    }

    let is_local = |line: &OrderLineInput| i64::from(line.warehouse) == home;
    let values = [
        Value::Int(order),
        Value::Int(district),
        Value::Int(home),
        Value::Int(customer),
        now.value(),
        Value::Int(parts.len() as i64),
        Value::Int(input.lines().iter().all(is_local).into()),
    ];
    work.execute_ahead(Sql::InsertOrder, &values).await?;
    let id = [order, district, home].map(Value::Int);
    work.execute_ahead(Sql::InsertNewOrder, &id).await?;
    insert_lines(work, &id, lines).await?;

    work.execute(
        if rolled_back {
            Sql::Rollback
        } else {
            Sql::Commit
        },
        &[],
    )
    .await?;
    let sum: i64 = lines.iter().map(PricedLine::amount).sum();
    let total = i128::from(sum) * i128::from(10_000 - discount) * i128::from(10_000 + tax);
    Ok(Entered {
        order,
        total: (total / 100_000_000) as i64,
        rolled_back,
    })
}

/// Reads an item from the row kept.
fn take_item(work: &TransactionWork<'_>, row: usize, part: &mut PricedLine) -> Result<(), DbError> {
    part.price = work.decimal(row, 1, 2, "i_price")?;
    part.brand = holds_original(work, row, 3);
    part.found = true;
    Ok(())
}

fn holds_original(work: &TransactionWork<'_>, row: usize, column: usize) -> bool {
    const WORD: &[u8] = b"ORIGINAL";
    match work.scratch.rows.get(row, column) {
        Some(tidemark_drivers::Cell::Bytes(text)) => text.windows(WORD.len()).any(|w| w == WORD),
        _ => false,
    }
}

/// An item that is not there must be the unused one.
fn check_unused(part: &PricedLine) -> Result<(), DbError> {
    if part.found || part.line.item == UNUSED_ITEM {
        return Ok(());
    }
    Err(missing(format_args!(
        "item {} does not exist",
        part.line.item
    )))
}

/// Reads the items of all lines in one statement.
async fn items(work: &mut TransactionWork<'_>, parts: &mut [PricedLine]) -> Result<(), DbError> {
    let ids = parts.iter().map(|p| p.line.item);
    if work.sql.style().arrays {
        let mut text = std::mem::take(&mut work.scratch.text);
        let mut arrays = Arrays::new(&mut text);
        arrays.numbers(ids);
        let fetched = work.fetch(Sql::Items, &[arrays.value(0)]).await;
        work.scratch.text = text;
        fetched?;
    } else {
        // The last one fills the list up: a list of one length is prepared once.
        let last = parts.last().map_or(0, |p| p.line.item);
        let mut values = [Value::Int(last.into()); MOST_LINES];
        for (value, id) in values.iter_mut().zip(ids) {
            *value = Value::Int(id.into());
        }
        work.fetch(Sql::Items, &values).await?;
    }
    for row in 0..work.scratch.rows.len() {
        let id = work.int(row, 0, "i_id")?;
        for part in parts.iter_mut().filter(|p| i64::from(p.line.item) == id) {
            take_item(work, row, part)?;
        }
    }
    parts.iter().try_for_each(check_unused)
}

async fn item(work: &mut TransactionWork<'_>, part: &mut PricedLine) -> Result<(), DbError> {
    let id = Value::Int(part.line.item.into());
    if work.fetch(Sql::Items, &[id]).await? > 0 {
        take_item(work, 0, part)?;
    }
    check_unused(part)
}

/// Reads a line's part of its row of stock.
fn take_stock(work: &TransactionWork<'_>, row: usize, part: &mut PricedLine) {
    part.brand &= holds_original(work, row, 3);
    if let Some(tidemark_drivers::Cell::Bytes(text)) = work.scratch.rows.get(row, 4) {
        let length = text.len().min(DIST);
        part.dist[..length].copy_from_slice(&text[..length]);
        part.dist_len = length as u8;
    }
}

fn no_stock(line: &OrderLineInput) -> DbError {
    missing(format_args!(
        "warehouse {} has no stock of item {}",
        line.warehouse, line.item
    ))
}

/// Locks the stock of all lines, which are sorted by its key, in one statement, and takes what they
/// order.
async fn stock(
    work: &mut TransactionWork<'_>,
    parts: &mut [PricedLine],
    district: i64,
) -> Result<(), DbError> {
    let arrays = work.sql.style().arrays;
    let district = Value::Int(district);
    if arrays {
        let mut text = std::mem::take(&mut work.scratch.text);
        let mut keys = Arrays::new(&mut text);
        keys.numbers(parts.iter().map(|p| p.line.warehouse));
        keys.numbers(parts.iter().map(|p| p.line.item));
        let values = [district, keys.value(0), keys.value(1)];
        let fetched = work.fetch(Sql::Stock, &values).await;
        work.scratch.text = text;
        fetched?;
    } else {
        let mut values = [district; 1 + 2 * MOST_LINES];
        let last = parts.last().map_or(OrderLineInput::default(), |p| p.line);
        let padded = parts.iter().map(|p| p.line).chain(std::iter::repeat(last));
        for (pair, line) in values[1..].chunks_exact_mut(2).zip(padded) {
            pair.copy_from_slice(&[line.warehouse, line.item].map(|id| Value::Int(id.into())));
        }
        work.fetch(Sql::Stock, &values).await?;
    }

    let mut changed = [Stock::default(); MOST_LINES];
    let mut count = 0;
    let home = work.warehouse;
    for part in parts.iter_mut() {
        let key = (i64::from(part.line.warehouse), i64::from(part.line.item));
        let known = count > 0 && (changed[count - 1].warehouse, changed[count - 1].item) == key;
        // Rows come in the order of their keys, as the lines stand.
        let row = if known { count - 1 } else { count };
        if !known {
            let there = row < work.scratch.rows.len()
                && (work.int(row, 0, "s_w_id")?, work.int(row, 1, "s_i_id")?) == key;
            if !there {
                return Err(no_stock(&part.line));
            }
            changed[count] = Stock {
                warehouse: key.0,
                item: key.1,
                quantity: work.int(row, 2, "s_quantity")?,
                ..Stock::default()
            };
            count += 1;
        }
        take_stock(work, row, part);
        changed[row].take(&part.line, home);
    }
    let changed = &changed[..count];

    if arrays {
        let mut text = std::mem::take(&mut work.scratch.text);
        let mut columns = Arrays::new(&mut text);
        columns.numbers(changed.iter().map(|s| s.quantity));
        columns.numbers(changed.iter().map(|s| s.ordered));
        columns.numbers(changed.iter().map(|s| s.lines));
        columns.numbers(changed.iter().map(|s| s.remote));
        columns.numbers(changed.iter().map(|s| s.warehouse));
        columns.numbers(changed.iter().map(|s| s.item));
        let values = [0, 1, 2, 3, 4, 5].map(|i| columns.value(i));
        let done = work
            .change_ahead(Sql::UpdateStock, &values, count as u16)
            .await;
        work.scratch.text = text;
        return done;
    }
    for row in changed {
        work.change_ahead(Sql::UpdateStock, &row.values(), 1)
            .await?;
    }
    Ok(())
}

async fn one_stock(
    work: &mut TransactionWork<'_>,
    part: &mut PricedLine,
    district: i64,
) -> Result<(), DbError> {
    let line = part.line;
    let (warehouse, item) = (i64::from(line.warehouse), i64::from(line.item));
    let values = [district, warehouse, item].map(Value::Int);
    if work.fetch(Sql::Stock, &values).await? != 1 {
        return Err(no_stock(&line));
    }
    take_stock(work, 0, part);
    let mut stock = Stock {
        warehouse,
        item,
        quantity: work.int(0, 2, "s_quantity")?,
        ..Stock::default()
    };
    stock.take(&line, work.warehouse);
    work.change(Sql::UpdateStock, &stock.values(), 1).await
}

/// Values of one row of `order_line`.
const COLUMNS: usize = 9;

fn row<'v>(id: &[Value<'v>; 3], part: &'v PricedLine, amount: &'v Money) -> [Value<'v>; COLUMNS] {
    let [order, district, warehouse] = *id;
    [
        order,
        district,
        warehouse,
        Value::Int(part.number.into()),
        Value::Int(part.line.item.into()),
        Value::Int(part.line.warehouse.into()),
        Value::Int(part.line.quantity.into()),
        amount.value(),
        Value::Text(part.dist()),
    ]
}

async fn insert_lines(
    work: &mut TransactionWork<'_>,
    id: &[Value<'_>; 3],
    lines: &[PricedLine],
) -> Result<(), DbError> {
    let style = work.sql.style();
    let mut amounts = [Money::default(); MOST_LINES];
    for (amount, part) in amounts.iter_mut().zip(lines) {
        *amount = Money::new(part.amount());
    }
    if style.arrays {
        let mut text = std::mem::take(&mut work.scratch.text);
        let mut columns = Arrays::new(&mut text);
        columns.numbers(lines.iter().map(|p| p.number));
        columns.numbers(lines.iter().map(|p| p.line.item));
        columns.numbers(lines.iter().map(|p| p.line.warehouse));
        columns.numbers(lines.iter().map(|p| p.line.quantity));
        columns.numbers(amounts[..lines.len()].iter().map(Money::as_str));
        columns.texts(lines.iter().map(PricedLine::dist));
        let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5].map(|i| columns.value(i));
        let values = [id[0], id[1], id[2], a, b, c, d, e, f];
        let done = work.execute_ahead(Sql::InsertLine, &values).await;
        work.scratch.text = text;
        return done;
    }
    if style.batched {
        let mut values = [Value::Null; COLUMNS * MOST_LINES];
        let rows = values.chunks_exact_mut(COLUMNS);
        for ((place, part), amount) in rows.zip(lines).zip(&amounts) {
            place.copy_from_slice(&row(id, part, amount));
        }
        let values = &values[..COLUMNS * lines.len()];
        return work.insert_ahead(lines.len(), values).await;
    }
    for (part, amount) in lines.iter().zip(&amounts) {
        work.execute(Sql::InsertLine, &row(id, part, amount))
            .await?;
    }
    Ok(())
}
