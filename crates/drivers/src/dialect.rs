//! What differs between engines that speak one protocol.

use crate::Value;
use tidemark_core::{Engine, Protocol};

/// A way to load many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkMethod {
    /// `COPY … FROM STDIN`.
    Copy,
    /// `LOAD DATA LOCAL INFILE`.
    LoadData,
    /// `INSERT … VALUES (…), (…), …` as text.
    MultiRowInsert,
    /// A prepared INSERT, one row at a time (embedded engines).
    PreparedInsert,
}

/// How a table's rows are laid over the nodes of a distributed engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitioning {
    /// As the engine does by itself.
    Default,
    /// By the hash of the key.
    Hash,
    /// By ranges of the key.
    Range,
}

/// SQL text that depends on the engine. Workloads ask it, and never for the engine's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dialect {
    engine: Engine,
}

impl Dialect {
    /// The dialect of an engine.
    pub const fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine it belongs to: for records, not for branching.
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// An identifier in the engine's quotes.
    pub fn quote(&self, identifier: &str) -> String {
        match self.engine.protocol() {
            Protocol::Mysql => format!("`{}`", identifier.replace('`', "``")),
            _ => format!("\"{}\"", identifier.replace('"', "\"\"")),
        }
    }

    /// The statement that begins a transaction which will write. SQLite takes its write lock at
    /// once: a lock taken later can't be waited for (sqlite.org/lang_transaction.html, 2.2).
    pub fn begin(&self) -> &'static str {
        match self.engine {
            Engine::Sqlite => "BEGIN IMMEDIATE",
            _ => "BEGIN",
        }
    }

    /// The statement that begins a transaction which only reads.
    pub fn begin_read(&self) -> &'static str {
        "BEGIN"
    }

    /// The best way to load many rows, if the server's configuration allows it.
    pub fn bulk_method(&self) -> BulkMethod {
        match self.engine.protocol() {
            Protocol::Mysql => BulkMethod::LoadData,
            Protocol::Postgres => BulkMethod::Copy,
            Protocol::Sqlite => BulkMethod::PreparedInsert,
        }
    }

    /// Appends a value as a literal.
    pub fn write_literal(&self, value: Value<'_>, out: &mut Vec<u8>) {
        match value {
            Value::Null => out.extend_from_slice(b"NULL"),
            Value::Int(v) => out.extend_from_slice(itoa::Buffer::new().format(v).as_bytes()),
            Value::Float(v) => out.extend_from_slice(v.to_string().as_bytes()),
            Value::Text(v) => self.write_text(v.as_bytes(), out),
            Value::Bytes(v) if self.engine.protocol() == Protocol::Postgres => {
                out.extend_from_slice(b"'\\x");
                write_hex(v, out);
                out.push(b'\'');
            }
            Value::Bytes(v) => {
                out.extend_from_slice(b"x'");
                write_hex(v, out);
                out.push(b'\'');
            }
        }
    }

    /// Quotes double in every engine; backslashes escape only in MySQL's default `sql_mode`, and
    /// not in PostgreSQL's `standard_conforming_strings`.
    fn write_text(&self, text: &[u8], out: &mut Vec<u8>) {
        let backslash_escapes = self.engine.protocol() == Protocol::Mysql;
        out.push(b'\'');
        for &b in text {
            match b {
                b'\'' => out.extend_from_slice(b"''"),
                b'\\' if backslash_escapes => out.extend_from_slice(b"\\\\"),
                _ => out.push(b),
            }
        }
        out.push(b'\'');
    }
}

/// Two lower-case digits a byte.
pub(crate) fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)]);
        out.push(DIGITS[usize::from(b & 15)]);
    }
}
