//! Placeholder until the driver lands.

use crate::{ConnectOptions, LoadRequest, Loaded, Outcome, RowSet, RowSource, Statement, Value};
use tidemark_core::{DbError, ServerInfo, Target};

/// One session.
#[derive(Debug)]
pub struct SqliteSession {
    server: ServerInfo,
}

#[allow(missing_docs, unused, clippy::all)]
impl SqliteSession {
    pub(crate) fn open(target: &Target, options: &ConnectOptions) -> Result<Self, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn server(&self) -> &ServerInfo {
        &self.server
    }
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        Err(DbError::protocol("not built yet"))
    }
}
