//! Rows as a script sees them.

use mlua::{Lua, Table, UserData, UserDataMethods};
use std::cell::{Cell as Flag, RefCell};
use std::rc::Rc;
use tidemark_drivers::{Cell, RowSet};

/// A buffer of more bytes is not kept for the next result, or the next statement.
pub(crate) const KEPT_BYTES: usize = 256 * 1024;

/// Where the rows of a connection's last result lie. sysbench has one for each connection, and the next
/// result replaces it: most scripts never look at their rows, and Lua collects its garbage rarely. Here it
/// is only replaced if the script has not begun to read it or has read all of it.
#[derive(Default)]
pub(crate) struct Shelf {
    rows: RefCell<RowSet>,
    /// Takes the next result.
    spare: RefCell<RowSet>,
    /// Counts the results that lay here.
    result: Flag<u64>,
    /// The row of the result that is read next.
    next: Flag<usize>,
    is_being_read: Flag<bool>,
    /// Whether the script has this shelf.
    is_known: Flag<bool>,
}

impl Shelf {
    /// An empty buffer for what the next statement returns. That of one that `returns_rows` for sure is
    /// the last result's, where the script is not reading that.
    pub fn buffer(&self, returns_rows: bool) -> RowSet {
        let rows = match returns_rows && !self.is_being_read.get() {
            true => {
                self.result.set(self.result.get() + 1);
                self.rows.take()
            }
            false => self.spare.take(),
        };
        match rows.bytes_held() {
            0..=KEPT_BYTES => rows,
            _ => RowSet::new(),
        }
    }

    /// The buffer of a statement that returned no rows: the last result stays.
    pub fn give_back(&self, rows: RowSet) {
        self.spare.replace(rows);
    }

    /// The result of a statement: on `shelf`, or on another in its place where the script still reads.
    pub fn lay(shelf: &mut Rc<Shelf>, rows: RowSet) -> ResultSet {
        if shelf.is_being_read.get() {
            *shelf = Rc::default();
        }
        let (count, columns) = (rows.len(), rows.columns());
        let before = shelf.rows.replace(rows);
        if before.bytes_held() > 0 {
            shelf.give_back(before);
        }
        shelf.result.set(shelf.result.get() + 1);
        shelf.next.set(0);
        ResultSet {
            rows: count,
            columns,
            number: shelf.result.get(),
            shelf: (!shelf.is_known.replace(true)).then(|| ShelfHandle(Rc::clone(shelf))),
        }
    }

    /// The next row of a result: texts, and nil for NULL; nil after the last. With it, whether there are
    /// more.
    ///
    /// # Errors
    /// When the result was replaced.
    fn fetch(&self, lua: &Lua, number: u64) -> mlua::Result<(Option<Table>, bool)> {
        if number != self.result.get() {
            return Err(mlua::Error::runtime(
                "fetch_row(): the connection's next query has replaced this result; read its rows first, \
                 or use a second connection",
            ));
        }
        let rows = self.rows.borrow();
        let (row, columns) = (self.next.get(), rows.columns());
        if row >= rows.len() {
            return Ok((None, false));
        }
        self.next.set(row + 1);
        let has_more = row + 1 < rows.len();
        self.is_being_read.set(has_more);
        let table = lua.create_table_with_capacity(columns, 0)?;
        for column in 0..columns {
            let at = column + 1;
            match rows.get(row, column) {
                Some(Cell::Bytes(bytes)) => table.raw_set(at, lua.create_string(bytes)?)?,
                Some(Cell::Int(number)) => table.raw_set(at, number.to_string())?,
                Some(Cell::Float(number)) => table.raw_set(at, number.to_string())?,
                Some(Cell::Null) | None => {}
            }
        }
        Ok((Some(table), has_more))
    }

    /// The script needs a result's rows no more.
    fn release(&self, number: u64) {
        if number == self.result.get() {
            self.is_being_read.set(false);
        }
    }
}

/// What a query returned. The prelude makes a table of it: one of Lua's own costs a script that never
/// looks at it much less than a value of the host, which has to be told when it is collected.
pub(crate) struct ResultSet {
    pub rows: usize,
    pub columns: usize,
    /// Its number on the shelf.
    pub number: u64,
    /// Where it lies, unless the script has that.
    pub shelf: Option<ShelfHandle>,
}

/// A shelf, for the script.
pub(crate) struct ShelfHandle(Rc<Shelf>);

impl UserData for ShelfHandle {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("fetch", |lua, this, number: u64| this.0.fetch(lua, number));
        methods.add_method("release", |_, this, number: u64| {
            this.0.release(number);
            Ok(())
        });
    }
}
