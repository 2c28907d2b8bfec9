//! What else a server changes when one of its settings is changed.
//!
//! MariaDB and MySQL keep some settings in step: `innodb_io_capacity` above `innodb_io_capacity_max`
//! raises that, too. No table tells which, so all are read before and after.

use super::{check_name, is_postgres, mysql};
use crate::Session;
use crate::engines::Globals;
use crate::settings::private::is_private;
use std::collections::BTreeMap;
use tidemark_core::DbError;

/// The values of a server's global variables by name; empty where no setting moves another.
pub type Snapshot = BTreeMap<String, String>;

/// Beginnings of names of what tells a state that moves by itself, and can be set all the same.
const STATES: &[&str] = &[
    "gtid_",
    "innodb_buffer_pool_load_",
    "rand_seed",
    "timestamp",
];

/// A setting that was changed by the server itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Its name.
    pub name: String,
    /// Its value before.
    pub before: String,
    /// Its value after.
    pub after: String,
}

/// Reads every setting that could be put back. What may hold secrets is left out: it is kept.
///
/// # Errors
/// The server's error.
pub async fn snapshot(session: &mut Session) -> Result<Snapshot, DbError> {
    let sql = match session.dialect().of_engine().globals {
        Globals::MysqlTable => {
            "SELECT LOWER(VARIABLE_NAME), GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES \
             WHERE READ_ONLY = 'NO' AND GLOBAL_VALUE IS NOT NULL"
        }
        Globals::Mysql => "SHOW GLOBAL VARIABLES",
        _ => return Ok(Snapshot::new()),
    };
    let rows = session.query(sql).await?;
    let kept = |(name, value): &(String, String)| {
        check_name(name).is_ok()
            && !STATES.iter().any(|state| name.starts_with(state))
            && !is_private(name, value)
    };
    let all = (0..rows.len()).filter_map(|row| Some((rows.text(row, 0)?, rows.text(row, 1)?)));
    Ok(all.filter(kept).collect())
}

/// What differs between two snapshots, but the setting that was to change.
pub fn moved(before: &Snapshot, after: &Snapshot, asked: &str) -> Vec<Moved> {
    let others = before
        .iter()
        .filter(|(n, _)| !n.eq_ignore_ascii_case(asked));
    others
        .filter_map(|(name, before)| {
            let after = after.get(name).filter(|after| *after != before)?;
            Some(Moved {
                name: name.clone(),
                before: before.clone(),
                after: after.clone(),
            })
        })
        .collect()
}

/// What moved when a setting was changed by a process that ended before it could look: what differs
/// from the snapshot taken before. Where the setting has not the value that it was changed to, it
/// was not changed, or the server has started anew since, and nothing is the change's doing.
///
/// # Errors
/// The server's error.
pub async fn moved_since(
    session: &mut Session,
    before: &Snapshot,
    asked: &str,
    changed_to: &str,
) -> Result<Vec<Moved>, DbError> {
    if before.is_empty() || is_postgres(session) {
        return Ok(Vec::new());
    }
    check_name(asked)?;
    let now = mysql::value(session, asked).await?.unwrap_or_default();
    if !mysql::is_same(&now, changed_to) {
        return Ok(Vec::new());
    }
    Ok(moved(before, &snapshot(session).await?, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_moved_but_for_the_one_that_was_asked_for() {
        let of = |pairs: &[(&str, &str)]| -> Snapshot {
            let owned = pairs.iter().map(|(n, v)| (n.to_string(), v.to_string()));
            owned.collect()
        };
        let before = of(&[("a", "1"), ("b", "2"), ("c", "3"), ("gone", "4")]);
        let after = of(&[("a", "9"), ("b", "8"), ("c", "3"), ("new", "5")]);
        let found = moved(&before, &after, "A");
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            (found[0].name.as_str(), found[0].before.as_str()),
            ("b", "2")
        );
        assert_eq!(found[0].after, "8");
    }
}
