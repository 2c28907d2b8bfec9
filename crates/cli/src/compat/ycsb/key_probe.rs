//! Whether the records that a run would choose are in the table, before it begins.

use super::YcsbWork;
use crate::exit::{ExitCode, Failure};
use crate::plan::BoundWorkload;
use tidemark_core::DbError;
use tidemark_runtime::block_on;
use tidemark_workloads::ycsb::{Probe, Settings, probe};

/// Looks for three of the records; gives a warning where some are missing.
///
/// # Errors
/// [`ExitCode::Refused`] when all of them are missing and the user does not insist: every read would
/// find nothing, which takes less time than to find something.
pub(super) fn look(work: &YcsbWork<'_>, plan: &BoundWorkload) -> Result<Option<String>, Failure> {
    let settings = Settings::new(&work.options_on(plan.target.protocol)?)?;
    let connector = plan.connector.clone();
    let table = settings.table.clone();
    let looked = block_on(async move {
        let mut session = connector.connect(0).await?;
        let probe = probe(&settings, &mut session).await?;
        session.close().await;
        Ok::<Probe, DbError>(probe)
    });
    let failed = |e: std::io::Error| Failure::new(ExitCode::Failed, e.to_string());
    match looked.map_err(failed)? {
        // The run itself will tell what is wrong.
        Err(error) => Ok(Some(format!("the keys could not be checked: {error}"))),
        Ok(probe) => judge(&probe, &table, work.options().flag("force")),
    }
}

fn judge(probe: &Probe, table: &str, insists: bool) -> Result<Option<String>, Failure> {
    let (asked, missing) = (probe.asked.len(), probe.missing.len());
    if missing == 0 {
        return Ok(None);
    }
    let said = format!(
        "the first, middle and last of the records to choose from were looked up in table \
         {table}, and {} missing: it was loaded with other records or keys (recordcount, \
         insertstart, insertorder, zeropadding, keyprefix)",
        match probe.missing.as_slice() {
            [one] => format!("{one} is"),
            more => format!("{} are", more.join(", ")),
        }
    );
    if missing < asked || insists {
        return Ok(Some(said));
    }
    Err(Failure::new(
        ExitCode::Refused,
        format!(
            "{said}; nothing was run. Use the properties that it was loaded with, reload it, or \
             add --force to run anyway"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_missing_is_refused_and_some_are_told() {
        let probe = |missing: &[&str]| Probe {
            asked: ["user0", "user5", "user9"].map(String::from).to_vec(),
            missing: missing.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(judge(&Probe::default(), "t", false).unwrap(), None);
        assert_eq!(judge(&probe(&[]), "t", false).unwrap(), None);
        let some = judge(&probe(&["user9"]), "t", false).unwrap().unwrap();
        assert!(some.contains("table t, and user9 is missing"), "{some}");
        let all = probe(&["user0", "user5", "user9"]);
        let refused = judge(&all, "t", false).unwrap_err();
        assert_eq!(refused.code, ExitCode::Refused);
        for word in ["user0, user5, user9 are missing", "insertorder", "--force"] {
            assert!(refused.message.contains(word), "{}", refused.message);
        }
        assert!(judge(&all, "t", true).unwrap().is_some());
    }
}
