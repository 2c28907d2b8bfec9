//! Requests with numbered parameters, one or several before one `Sync`.

use super::reply::Reply;
use super::{PostgresSession, check_values, message};
use crate::request::Request;
use crate::statement::StatementForm;
use crate::{Outcome, RowSet, Statement, Verb};
use tidemark_core::{DbError, ErrorClass};

impl PostgresSession {
    /// Whether a transaction is open, or failed and not rolled back.
    pub(crate) fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// Prepares a text whose parameters are numbered; its columns' names go to `rows`.
    pub(crate) async fn prepare_numbered(
        &mut self,
        sql: &str,
        rows: &mut RowSet,
    ) -> Result<Statement, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        if !self.prepares() {
            return Err(DbError::new(
                ErrorClass::Fatal,
                "protocol",
                "this session sends text and prepares nothing",
            ));
        }
        self.prepared = self.prepared.wrapping_add(1);
        let number = self.prepared;
        let mut out = message::buffer();
        message::prepare(&mut out, number, sql)?;
        let mut reply = Reply::describing(rows);
        self.exchange(out, &mut reply).await?;
        let form = StatementForm::Postgres {
            number,
            params: reply.params,
            columns: reply.columns.unwrap_or(0),
        };
        let verb = Verb::of(sql);
        Ok(Statement { verb, form })
    }

    /// Sends requests in one piece, and decodes the rows of their results.
    pub(crate) async fn ask(
        &mut self,
        asked: &[Request<'_>],
        rows: Option<&mut RowSet>,
    ) -> Result<Outcome, DbError> {
        if let Some(rest) = self.settle() {
            rest.await?;
        }
        let mut out = message::buffer();
        let mut columns = None;
        let mut extended = true;
        for request in asked {
            match request {
                Request::Text(sql) => {
                    extended = false;
                    self.write_text(&mut out, request.verb(), |out| {
                        out.extend_from_slice(sql.as_bytes());
                    })?;
                }
                Request::Parsed { sql, values } => message::parse_execute(&mut out, sql, values)?,
                Request::Prepared { statement, values } => {
                    let StatementForm::Postgres {
                        number,
                        params,
                        columns: described,
                    } = statement.form
                    else {
                        return Err(DbError::protocol(
                            "the statement was prepared by another driver",
                        ));
                    };
                    check_values(values, params.into())?;
                    columns = (described > 0).then_some(described);
                    message::bind_execute_ahead(&mut out, number, values)?;
                }
            }
        }
        if extended {
            message::sync(&mut out);
        }
        let mut reply = match rows {
            Some(rows) => Reply::decoding(rows, columns),
            None => Reply::counting(),
        };
        reply.columns = columns;
        reply.extended = extended;
        self.exchange(out, &mut reply).await?;
        Ok(reply.outcome)
    }
}
