//! Placeholder until the driver lands.

use crate::{ConnectOptions, LoadRequest, Loaded, Outcome, RowSet, RowSource, Statement, Value};
use std::sync::Arc;
use tidemark_core::{DbError, Host, ServerInfo, Target};
use tidemark_runtime::Stream;

/// One session.
#[derive(Debug)]
pub struct PostgresSession {
    server: ServerInfo,
}

#[allow(missing_docs, unused, clippy::all)]
impl PostgresSession {
    pub(crate) async fn open(
        stream: Stream,
        host: &Host,
        target: &Target,
        tls: Option<&Arc<rustls::ClientConfig>>,
        options: &ConnectOptions,
    ) -> Result<Self, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) fn server(&self) -> &ServerInfo {
        &self.server
    }
    pub(crate) async fn prepare(&mut self, sql: &str) -> Result<Statement, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) async fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: &mut RowSet,
    ) -> Result<Outcome, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) async fn simple(&mut self, sql: &str) -> Result<Outcome, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) async fn query(&mut self, sql: &str) -> Result<RowSet, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) async fn load(
        &mut self,
        request: &LoadRequest<'_>,
        source: &mut dyn RowSource,
    ) -> Result<Loaded, DbError> {
        Err(DbError::protocol("not built yet"))
    }
    pub(crate) async fn close(self) {}
}
