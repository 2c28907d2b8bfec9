//! Conditions that a workload's tables meet whenever no transaction is half done.

/// A sentence in the languages that results are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sentence {
    /// English.
    pub en: &'static str,
    /// Simplified Chinese.
    pub zh: &'static str,
}

/// A condition, as a query for whatever breaks it.
///
/// The query is a template: `{in}` stands after a column that holds the unit of scale (a warehouse)
/// and becomes `= 3` or `BETWEEN 1 AND 4`; `{units}` becomes how many those are. A condition is
/// asked in blocks of units, because a server answers many small questions in its memory where one
/// large one would go to disk, and because blocks can be asked side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it is called by: the specification's clause (`3.3.2.1`).
    pub name: &'static str,
    /// What it says.
    pub says: Sentence,
    /// A query whose rows are the violations; what identifies one comes first.
    pub sql: &'static str,
    /// What its columns are called.
    pub columns: &'static [&'static str],
    /// Units there are, numbered from 1.
    pub units: u64,
    /// Units asked about in one statement; 0 is all.
    pub block: u64,
}

impl Check {
    /// Number of statements that ask about every unit.
    pub fn blocks(&self) -> u64 {
        match self.block {
            0 => self.units.min(1),
            block => self.units.div_ceil(block),
        }
    }

    /// The query for violations in the block of that number, from 0.
    pub fn statement(&self, block: u64) -> String {
        let size = match self.block {
            0 => self.units,
            size => size,
        };
        let first = block.saturating_mul(size).saturating_add(1);
        let last = first.saturating_add(size - size.min(1)).min(self.units);
        let range = if first == last {
            format!("= {first}")
        } else {
            format!("BETWEEN {first} AND {last}")
        };
        let units = (last + 1).saturating_sub(first).to_string();
        self.sql.replace("{in}", &range).replace("{units}", &units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(units: u64, block: u64) -> Check {
        Check {
            name: "1",
            says: Sentence { en: "", zh: "" },
            sql: "SELECT w FROM t WHERE w {in} AND n <> {units}",
            columns: &["w"],
            units,
            block,
        }
    }

    #[test]
    fn blocks_cover_every_unit_once() {
        let asked = |units, block| -> Vec<String> {
            let check = check(units, block);
            let all = (0..check.blocks()).map(|b| check.statement(b));
            all.map(|sql| sql.replace("SELECT w FROM t WHERE w ", ""))
                .collect()
        };
        assert_eq!(
            asked(5, 2),
            [
                "BETWEEN 1 AND 2 AND n <> 2",
                "BETWEEN 3 AND 4 AND n <> 2",
                "= 5 AND n <> 1"
            ]
        );
        assert_eq!(asked(2, 1), ["= 1 AND n <> 1", "= 2 AND n <> 1"]);
        assert_eq!(asked(7, 0), ["BETWEEN 1 AND 7 AND n <> 7"]);
        assert_eq!(asked(1, 0), ["= 1 AND n <> 1"]);
        assert_eq!(asked(1, 32), ["= 1 AND n <> 1"]);
        assert!(asked(0, 0).is_empty() && asked(0, 1).is_empty());
    }
}
