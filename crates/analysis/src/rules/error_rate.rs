//! Errors that were passed over and change the work.

use crate::run::Run;
use crate::thresholds::{ERRORS, ERRORS_INVALID};
use crate::{AnalysisError, Both, Figure, Finding, Severity};

pub(super) const ID: &str = "error-rate";

const SAYS: Both = Both {
    en: "{errors} {errors|error was|errors were} passed over beside {count} {count|transaction|transactions} that ended well: {share}% of all tries, most of them {code}.",
    zh: "成功 {count} 个事务的同时忽略了 {errors} 个错误，占全部尝试的 {share}%，其中最多的是 {code}。",
};
const INSTEAD: Both = Both {
    en: "Remove their cause (more rows, fewer sessions on the same ones, another isolation level) or give the error rate beside the throughput.",
    zh: "消除错误来源（增加数据量、减少对同一行的并发、调整隔离级别），或在吞吐量旁注明错误率。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let (errors, count) = (run.totals.ignored_errors, run.totals.all.count);
    let share = errors as f64 / (errors as f64 + count as f64);
    if share < ERRORS {
        return Ok(None);
    }
    let most = run.record.errors.iter().max_by_key(|e| e.count);
    let code = most.map_or("?", |e| e.code.as_str());
    Ok(Some(Finding {
        rule: ID,
        severity: if share >= ERRORS_INVALID {
            Severity::Invalid
        } else {
            Severity::Suspect
        },
        says: SAYS,
        instead: INSTEAD,
        figures: vec![
            ("errors", Figure::Count(errors)),
            ("count", Figure::Count(count)),
            ("share", Figure::Number(share * 100.0)),
            ("code", Figure::Text(code.into())),
        ],
    }))
}
