//! A load that is killed, changes somebody makes then, and the same load again.

use super::loads::{Load, WITH_FIRST_ROWS};
use super::place::Place;
use tidemark_core::{LeftBehind, StudyLoad};
use tidemark_drivers::{Session, journal};
use tidemark_engine::Replace;

/// A table that is compared whole, and one that is too large for that.
const SIZES: [(u64, u64); 2] = [(20_000, 20), (100_200, 1_000)];
/// A row of which neither table's sample has one.
const ROW: u64 = 4;

/// Plays both: no study drops the row, and none is refused what nobody has changed.
pub fn play(place: &Place) {
    for (rows, chunk_rows) in SIZES {
        let load = Load {
            tables: 1,
            rows,
            chunk_rows,
            seed: 1,
            replace: Replace::Nothing,
            study: Some(StudyLoad {
                study: "study-resumed".into(),
                left: LeftBehind::AsLoaded,
                sums: true,
            }),
            summed_rows: u64::MAX,
        };
        for changes in [true, false] {
            let well = is_well(place, &load, changes);
            place.clear();
            assert_eq!(well, Ok(()), "{rows} rows, changed {changes}");
        }
    }
}

fn is_well(place: &Place, load: &Load, changes: bool) -> Result<(), String> {
    cut_off(place, load)?;
    if changes && !place.execute(&[format!("UPDATE sbtest1 SET c = 'mine' WHERE id = {ROW}")]) {
        return Err("the row can't be changed".into());
    }
    let is_compared = load.rows < 100_000;
    match load.run(place) {
        Err(error) if changes && is_compared => {
            let said = error.to_string();
            match said.contains("sampled rows differ") {
                true => {}
                false => return Err(format!("the same load: {said}")),
            }
        }
        Ok(()) if changes && is_compared => return Err("the changed row was taken over".into()),
        done => done.map_err(|error| format!("the same load: {error}"))?,
    }
    let other = Load {
        rows: 5,
        ..load.clone()
    };
    // Nobody has looked at all rows of the large one.
    let may_go = is_compared && !changes;
    match (other.run(place), may_go) {
        (Ok(()), true) => Ok(()),
        (Err(_), true) => Err("a study was refused its own table".into()),
        (Ok(()), false) => Err("the table was dropped".into()),
        (Err(error), false) if !error.to_string().contains("nothing was changed") => {
            Err(format!("another load: {error}"))
        }
        (Err(_), false) => {
            let row = place.query(&format!("SELECT c FROM sbtest1 WHERE id = {ROW}"));
            let text = row.and_then(|rows| rows.text(0, 0)).unwrap_or_default();
            match !changes || text.trim_end() == "mine" {
                true => Ok(()),
                false => Err(format!("row {ROW} is {text:?}")),
            }
        }
    }
}

/// Kills a load that has made the row and not yet all of them.
fn cut_off(place: &Place, load: &Load) -> Result<(), String> {
    for _ in 0..50 {
        load.killed(place, WITH_FIRST_ROWS, None);
        let journal = place.with(async |session: &mut Session| journal::read(session).await);
        let journal = journal.map_err(|e| e.to_string())?;
        let is_done = |line: &&journal::JournalLine| line.state == journal::PartState::Done;
        let done: Vec<_> = journal
            .iter()
            .flat_map(|j| j.lines.iter().filter(is_done))
            .collect();
        let is_of_row = |line: &&journal::JournalLine| match line.part {
            journal::LoadPart::Chunk { first, units } => {
                (first..first + units).contains(&(ROW - 1))
            }
            _ => false,
        };
        let chunks = load.rows.div_ceil(load.chunk_rows) as usize;
        if done.iter().any(is_of_row) && done.len() < chunks {
            return Ok(());
        }
        place.clear();
    }
    Err("no load was killed between its first row and its last".into())
}
