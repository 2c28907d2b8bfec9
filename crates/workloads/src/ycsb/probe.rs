//! Whether the records that a run would choose are there, by three of them. A table of any size is
//! asked in no time, where counting its rows would take longer than many a run.

use super::Settings;
use super::encoding::key;
use super::schema::KEY;
use tidemark_core::DbError;
use tidemark_drivers::{Session, Value};

/// Keys that were looked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Probe {
    /// Of the first, the middle and the last record that a run chooses from; of fewer records each
    /// once.
    pub asked: Vec<String>,
    /// Those that are not there.
    pub missing: Vec<String>,
}

/// Looks for the first, the middle and the last record of `insertstart` and `insertcount`, under the
/// keys that the properties give them. Nothing is looked for where operations choose no record.
///
/// # Errors
/// The server's error.
pub async fn probe(settings: &Settings, session: &mut Session) -> Result<Probe, DbError> {
    let mut probe = Probe {
        asked: keys(settings),
        missing: Vec::new(),
    };
    if probe.asked.is_empty() {
        return Ok(probe);
    }
    let table = session.dialect().quote(&settings.table);
    let statement = session
        .prepare(&format!("SELECT {KEY} FROM {table} WHERE {KEY} = ?"))
        .await?;
    for key in &probe.asked {
        let found = session.execute(&statement, &[Value::Text(key)]).await?;
        if found.rows == 0 {
            probe.missing.push(key.clone());
        }
    }
    Ok(probe)
}

fn keys(settings: &Settings) -> Vec<String> {
    let [read, update, _insert, scan, both] = settings.proportions;
    let count = settings.insert_count;
    if count == 0 || read + update + scan + both <= 0.0 {
        return Vec::new();
    }
    let mut numbers = vec![0, count / 2, count - 1];
    numbers.dedup();
    let key_of = |number: u64| {
        let mut out = String::new();
        key(settings, settings.insert_start + number, &mut out);
        out
    };
    numbers.into_iter().map(key_of).collect()
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::settings;
    use super::*;

    #[test]
    fn first_middle_and_last_of_the_range_are_looked_for() {
        let asked = |more: &[(&str, &str)]| {
            let mut options = vec![("insertorder", "ordered")];
            options.extend(more);
            keys(&settings(&options).unwrap())
        };
        assert_eq!(asked(&[("recordcount", "10")]), ["user0", "user5", "user9"]);
        assert_eq!(asked(&[("recordcount", "1")]), ["user0"]);
        assert_eq!(asked(&[("recordcount", "2")]), ["user0", "user1"]);
        let part = [
            ("recordcount", "100"),
            ("insertstart", "40"),
            ("insertcount", "20"),
        ];
        assert_eq!(asked(&part), ["user40", "user50", "user59"]);
        let inserts = [
            ("recordcount", "10"),
            ("insertproportion", "1"),
            ("readproportion", "0"),
            ("updateproportion", "0"),
        ];
        assert_eq!(asked(&inserts), [""; 0]);
    }
}
