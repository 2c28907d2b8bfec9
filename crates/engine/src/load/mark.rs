//! The mark on a table that Tidemark loads or has loaded: what was asked, so that only the same load
//! goes on, on whose behalf, and how its rows were left.

use super::LoadSpec;
use tidemark_core::fnv1a;
use tidemark_drivers::catalog::TableDescription;
use tidemark_workloads::TablePlan;

/// How every mark of Tidemark's begins.
pub(super) const MARK: &str = "tidemark:";

/// What a mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark<'m> {
    /// Whether the load came to its end.
    pub loaded: bool,
    /// Rows that were asked for.
    pub rows: &'m str,
    /// Seed of the rows.
    pub seed: &'m str,
    /// Tells schemas apart; empty in marks of older forms.
    plan: &'m str,
    /// On whose behalf the rows were made; `None` when by hand, or by several.
    pub owner: Option<&'m str>,
    /// The rows as the load left them ([`tidemark_drivers::catalog::contents`]).
    pub contents: Option<&'m str>,
    /// Whether a later call went on with rows of an earlier one: somebody may have changed them in between.
    pub resumed: bool,
}

impl<'m> Mark<'m> {
    /// Reads a mark; `None` of a text that is none of a load's.
    pub fn of(text: &'m str) -> Option<Self> {
        let (state, rest) = text.strip_prefix(MARK)?.split_once(' ')?;
        let loaded = match state {
            "loading" => false,
            "loaded" => true,
            _ => return None,
        };
        let word = |name: &str| {
            let of = |w: &'m str| w.strip_prefix(name)?.strip_prefix('=');
            rest.split(' ').find_map(of)
        };
        Some(Self {
            loaded,
            rows: word("rows")?,
            seed: word("seed")?,
            plan: word("plan").unwrap_or_default(),
            owner: word("owner"),
            contents: word("contents"),
            resumed: word("resumed").is_some(),
        })
    }

    /// Whether this very load left it: the same schema, number of rows and seed.
    pub fn is_of(&self, plan: &TablePlan, seed: u64) -> bool {
        self.rows == plan.rows.to_string()
            && self.seed == seed.to_string()
            && self.plan == digest(plan)
    }
}

/// Whether a text is the mark of a load of this plan, ended or not.
pub(super) fn is_mark_of(text: Option<&str>, loaded: bool, plan: &TablePlan, seed: u64) -> bool {
    let mark = text.and_then(Mark::of);
    mark.is_some_and(|m| m.loaded == loaded && m.is_of(plan, seed))
}

/// The mark of a table while it is loaded.
pub(super) fn loading(plan: &TablePlan, seed: u64, owner: Option<&str>) -> String {
    written("loading", plan, seed, owner, None)
}

/// The mark of a table while a load goes on with rows that an earlier call left.
pub(super) fn resumed(plan: &TablePlan, seed: u64, owner: Option<&str>) -> String {
    loading(plan, seed, owner) + " resumed=yes"
}

/// The mark of a table whose load was given up, with the rows that it has by then.
pub(super) fn given_up(plan: &TablePlan, seed: u64, owner: &str, contents: &str) -> String {
    written("loading", plan, seed, Some(owner), Some(contents))
}

/// The mark of a table that was loaded and verified.
pub(super) fn loaded(plan: &TablePlan, seed: u64, owner: Option<(&str, &str)>) -> String {
    let contents = owner.map(|(_, contents)| contents);
    written("loaded", plan, seed, owner.map(|(id, _)| id), contents)
}

fn written(
    state: &str,
    plan: &TablePlan,
    seed: u64,
    owner: Option<&str>,
    contents: Option<&str>,
) -> String {
    let (rows, digest) = (plan.rows, digest(plan));
    let mut mark = format!("{MARK}{state} rows={rows} seed={seed} plan={digest}");
    for (name, value) in [("owner", owner), ("contents", contents)] {
        if let Some(value) = value {
            mark += &format!(" {name}={value}");
        }
    }
    mark
}

/// Tells plans with other schemas apart: FNV-1a over all their statements (Fowler, Noll, Vo).
fn digest(plan: &TablePlan) -> String {
    let before = plan.create.iter().chain(&plan.indexes).chain(&plan.finish);
    let texts = before.chain(&plan.after_all);
    let bytes = texts.flat_map(|sql| sql.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("{hash:08x}")
}

/// Tells loads apart: which tables, of what schema, with which rows.
pub(super) fn digest_of_all(plans: &[TablePlan], spec: &LoadSpec) -> u64 {
    let marks = plans
        .iter()
        .map(|plan| (plan, loading(plan, spec.seed, None)));
    let texts = marks.map(|(plan, mark)| format!("{} {mark}\n", plan.name));
    let all: String = texts.collect();
    fnv1a(&all)
}

/// Whether a table's load did not end: rows or indexes are missing.
pub fn is_unfinished(found: &TableDescription) -> bool {
    let loading = format!("{MARK}loading ");
    found
        .comment
        .as_deref()
        .is_some_and(|mark| mark.starts_with(&loading))
}

/// Whether a table bears the mark of a study's load.
pub fn is_loaded_by(found: &TableDescription, study: &str) -> bool {
    let mark = found.comment.as_deref().and_then(Mark::of);
    mark.is_some_and(|m| m.owner == Some(study))
}

/// Whether a mark says that Tidemark loaded its table to the end.
pub fn is_marked_loaded(mark: &str) -> bool {
    mark.strip_prefix(MARK)
        .is_some_and(|rest| rest.starts_with("loaded "))
}

/// Why another load doesn't take the place of an unfinished one: the difference may be a slip.
pub(super) fn otherwise(mark: &Mark<'_>, plan: &TablePlan, seed: u64) -> String {
    let (rows, seed) = (plan.rows.to_string(), seed.to_string());
    let differs = if mark.rows == rows && mark.seed == seed {
        format!("{rows} rows in another schema than")
    } else if mark.seed == seed {
        format!("{} rows instead of {rows} as", mark.rows)
    } else {
        format!(
            "{} rows from seed {} instead of {rows} from {seed} as",
            mark.rows, mark.seed
        )
    };
    format!(
        "the load of table {} is incomplete: it has {differs} this one; nothing was changed. Use \
         the same options to resume it, or add --replace to start this one",
        plan.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(rows: u64, create: &str) -> TablePlan {
        TablePlan {
            name: "warehouse".into(),
            rows,
            create: vec![create.into()],
            ..TablePlan::default()
        }
    }

    #[test]
    fn a_load_that_is_not_the_same_is_told_by_what_differs() {
        let text = loading(&plan(4, "a"), 7, None);
        for (rows, seed, words) in [
            (5, 7, "it has 4 rows instead of 5 as this one"),
            (
                4,
                8,
                "it has 4 rows from seed 7 instead of 4 from 8 as this one",
            ),
            (4, 7, "it has 4 rows in another schema than this one"),
        ] {
            let mark = Mark::of(&text).unwrap();
            let said = otherwise(&mark, &plan(rows, "b"), seed);
            assert!(said.contains(words), "{said}");
        }
        assert_eq!(Mark::of("tidemark:loading"), None);
        assert_eq!(Mark::of("my own table"), None);
    }

    #[test]
    fn marks_say_what_is_read_from_them() {
        let plan = plan(4, "a");
        let text = loaded(&plan, 7, Some(("study-1", "4:1:4:ab")));
        let mark = Mark::of(&text).unwrap();
        assert!(mark.loaded && mark.is_of(&plan, 7) && !mark.is_of(&plan, 8));
        assert_eq!(mark.owner, Some("study-1"));
        assert_eq!(mark.contents, Some("4:1:4:ab"));
        // A mark that an earlier version left names nobody.
        let older = Mark::of("tidemark:loaded rows=4 seed=7 plan=00000000").unwrap();
        assert_eq!((older.owner, older.contents), (None, None));
        assert!(is_mark_of(
            Some(&loading(&plan, 7, Some("x"))),
            false,
            &plan,
            7
        ));
        assert!(!is_mark_of(Some(&text), false, &plan, 7) && !mark.resumed);
        let text = resumed(&plan, 7, Some("x"));
        let mark = Mark::of(&text).unwrap();
        assert!(mark.resumed && mark.is_of(&plan, 7));
        assert_eq!((mark.loaded, mark.owner), (false, Some("x")));
    }
}
