//! Rows as a script sees them.

use mlua::{Lua, Table, UserData, UserDataFields, UserDataMethods};
use tidemark_drivers::{Cell, RowSet};

/// What a query returned: `nrows`, `nfields`, `fetch_row()`.
pub(crate) struct ResultSet {
    rows: RowSet,
    next: usize,
}

impl ResultSet {
    pub fn new(rows: RowSet) -> Self {
        Self { rows, next: 0 }
    }

    /// The next row: texts, and nil for NULL; nil after the last.
    fn fetch(&mut self, lua: &Lua) -> mlua::Result<Option<Table>> {
        let (row, columns) = (self.next, self.rows.columns());
        if row >= self.rows.len() {
            return Ok(None);
        }
        self.next += 1;
        let table = lua.create_table_with_capacity(columns, 0)?;
        for column in 0..columns {
            let at = column + 1;
            match self.rows.get(row, column) {
                Some(Cell::Bytes(bytes)) => table.raw_set(at, lua.create_string(bytes)?)?,
                Some(Cell::Int(number)) => table.raw_set(at, number.to_string())?,
                Some(Cell::Float(number)) => table.raw_set(at, number.to_string())?,
                Some(Cell::Null) | None => {}
            }
        }
        Ok(Some(table))
    }
}

impl UserData for ResultSet {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("nrows", |_, this| Ok(this.rows.len()));
        fields.add_field_method_get("nfields", |_, this| Ok(this.rows.columns()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("fetch_row", |lua, this, ()| this.fetch(lua));
        methods.add_method_mut("free", |_, this, ()| {
            this.rows.reset(0);
            Ok(())
        });
    }
}
