//! Whether the tables are of the size asked for: metrics of other ones would be false, and changes
//! could not be put back.

use super::refresh::Marks;
use crate::exit::{ExitCode, Failure};
use crate::looking::Described;
use std::sync::Arc;
use tidemark_core::DbError;
use tidemark_drivers::{Connector, Dialect, catalog};
use tidemark_runtime::block_on;
use tidemark_workloads::Workload;

/// The table whose rows tell the scale factor, and that no refresh changes.
pub(super) const CUSTOMER: &str = "customer";
/// Its rows at scale factor 1 (clause 4.2.5).
const CUSTOMERS: f64 = 150_000.0;
/// The table whose mark tells the scale factor where customers are too many to be counted each time.
const ORDERS: &str = "orders";
/// Its rows at scale factor 1 (clause 4.2.5).
const ORDERS_OF_ONE: f64 = 1_500_000.0;

/// Looks at the customers as far as they were counted, and at what the mark of orders says; where
/// there is neither, customers are counted, however many they are.
///
/// # Errors
/// [`ExitCode::NotPrepared`] with the scale factor that would be right; [`Failure`] of the connection
/// or of the server.
pub(super) fn must_be(
    scale: &str,
    workload: &Arc<dyn Workload>,
    connector: &Connector,
    described: &Described,
    marks: &Marks,
    prepare: &str,
) -> Result<(), Failure> {
    let seen = described.tables.iter().find(|t| t.table == CUSTOMER);
    let customers = match (seen, marks.orders()) {
        (Some(customer), _) => Some(customer.rows),
        (None, Some(_)) => None,
        (None, None) => Some(counted(connector)?),
    };
    let looks = [
        (CUSTOMER, customers, CUSTOMERS),
        (ORDERS, marks.orders(), ORDERS_OF_ONE),
    ];
    let dialect = Dialect::new(described.server.engine);
    for (table, there, of_one) in looks {
        let Some((there, asked)) = there.zip(planned(workload, dialect, table)) else {
            continue;
        };
        if there != asked {
            let as_at = scale_of(there, of_one);
            let as_at = as_at.map(|scale| format!(", as at --sf={scale}: use that, or"));
            return Err(Failure::new(
                ExitCode::NotPrepared,
                format!(
                    "--sf={scale}: table {table} should have {asked} rows and has {there}{} load: \
                     {prepare} --dropdata",
                    as_at.unwrap_or_else(|| ":".into())
                ),
            ));
        }
    }
    Ok(())
}

/// The scale factor that gives so many rows, if it is one that somebody would ask for and not what
/// is left of another.
fn scale_of(rows: u64, of_one: f64) -> Option<f64> {
    let thousandths = (rows as f64 / of_one * 1000.0).round();
    let scale = thousandths / 1000.0;
    (thousandths >= 1.0 && (scale * of_one) as u64 == rows).then_some(scale)
}

/// Rows that a table is to have.
pub(super) fn planned(workload: &Arc<dyn Workload>, dialect: Dialect, table: &str) -> Option<u64> {
    let plans = workload.tables(&dialect, 1).ok()?;
    plans.iter().find(|p| p.name == table).map(|p| p.rows)
}

/// Rows of customer.
///
/// # Errors
/// [`Failure`] of the connection or of the server.
pub(super) fn counted(connector: &Connector) -> Result<u64, Failure> {
    let connector = connector.clone().unlimited();
    let rows = block_on(async move {
        let mut session = connector.connect(0).await?;
        let rows = catalog::row_count(&mut session, CUSTOMER).await;
        session.close().await;
        rows
    });
    let rows: Result<u64, DbError> =
        rows.map_err(|e| Failure::new(ExitCode::Failed, e.to_string()))?;
    Ok(rows?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_factor_is_named_when_its_rows_are_all_there() {
        assert_eq!(scale_of(1500, CUSTOMERS), Some(0.01));
        assert_eq!(scale_of(150_000 * 30, CUSTOMERS), Some(30.0));
        assert_eq!(scale_of(150, CUSTOMERS), Some(0.001));
        assert_eq!(scale_of(1499, CUSTOMERS), None);
        assert_eq!(scale_of(0, CUSTOMERS), None);
    }
}
