//! Rows as a script sees them.

use mlua::{Lua, Table, UserData, UserDataFields, UserDataMethods};
use std::cell::{Cell as Flag, RefCell};
use std::rc::Rc;
use tidemark_drivers::{Cell, RowSet};

/// A buffer of more bytes is not kept for the next result.
const KEPT_BYTES: usize = 256 * 1024;

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
    is_being_read: Flag<bool>,
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
        ResultSet {
            shelf: Rc::clone(shelf),
            number: shelf.result.get(),
            rows: count,
            columns,
            next: 0,
        }
    }
}

/// What a query returned: `nrows`, `nfields`, `fetch_row()`.
pub(crate) struct ResultSet {
    shelf: Rc<Shelf>,
    /// Its number on the shelf.
    number: u64,
    rows: usize,
    columns: usize,
    next: usize,
}

impl ResultSet {
    fn is_replaced(&self) -> bool {
        self.number != self.shelf.result.get()
    }

    /// The next row: texts, and nil for NULL; nil after the last.
    fn fetch(&mut self, lua: &Lua) -> mlua::Result<Option<Table>> {
        let row = self.next;
        if row >= self.rows {
            self.release();
            return Ok(None);
        }
        if self.is_replaced() {
            return Err(mlua::Error::runtime(
                "fetch_row(): the connection's next query has replaced this result; read its rows first, \
                 or use a second connection",
            ));
        }
        self.next += 1;
        self.shelf.is_being_read.set(self.next < self.rows);
        let table = lua.create_table_with_capacity(self.columns, 0)?;
        let rows = self.shelf.rows.borrow();
        for column in 0..self.columns {
            let at = column + 1;
            match rows.get(row, column) {
                Some(Cell::Bytes(bytes)) => table.raw_set(at, lua.create_string(bytes)?)?,
                Some(Cell::Int(number)) => table.raw_set(at, number.to_string())?,
                Some(Cell::Float(number)) => table.raw_set(at, number.to_string())?,
                Some(Cell::Null) | None => {}
            }
        }
        Ok(Some(table))
    }

    /// The script needs the rows no more.
    fn release(&mut self) {
        self.next = self.rows;
        if !self.is_replaced() {
            self.shelf.is_being_read.set(false);
        }
    }
}

impl UserData for ResultSet {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("nrows", |_, this| Ok(this.rows));
        fields.add_field_method_get("nfields", |_, this| Ok(this.columns));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("fetch_row", |lua, this, ()| this.fetch(lua));
        methods.add_method_mut("free", |_, this, ()| {
            this.release();
            this.rows = 0;
            Ok(())
        });
    }
}
