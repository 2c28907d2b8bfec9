//! Errors that were passed over, or after which transactions were tried again, and change the work.

use crate::run::Run;
use crate::thresholds::{ERRORS, ERRORS_INVALID};
use crate::{AnalysisError, Both, Figure, Finding, Severity};
use tidemark_core::ErrorClass;

pub(super) const ID: &str = "error-rate";

const SAYS: Both = Both {
    en: "{errors} {errors|error was|errors were} passed over beside {count} {count|transaction|transactions} that ended well: {share}% of all tries, most of them {code}.",
    zh: "成功 {count} 个事务的同时忽略了 {errors} 个错误，占全部尝试的 {share}%，其中最多的是 {code}。",
};
/// Of errors after which the transaction was rolled back and tried again.
const RETRIED: Both = Both {
    en: "{errors} {errors|try|tries} failed and {errors|was|were} rolled back and retried beside {count} {count|transaction|transactions} that ended well: {share}% of all tries, most of them {code}.",
    zh: "成功 {count} 个事务的同时，有 {errors} 次尝试因错误而回滚并重试，占全部尝试的 {share}%，其中最多的是 {code}。",
};
/// The same where a setting of MariaDB's makes them (mariadb.com/kb, "innodb_snapshot_isolation").
const SNAPSHOT: Both = Both {
    en: "{errors} {errors|try|tries} failed and {errors|was|were} rolled back and retried beside {count} {count|transaction|transactions} that ended well: {share}% of all tries, most of them {code}. innodb_snapshot_isolation is ON, as is MariaDB's default since 11.6.2: a transaction that writes a row which another has changed since its snapshot was taken fails with this error.",
    zh: "成功 {count} 个事务的同时，有 {errors} 次尝试因错误而回滚并重试，占全部尝试的 {share}%，其中最多的是 {code}。服务器开启了 innodb_snapshot_isolation（MariaDB 自 11.6.2 起默认开启）：事务若修改在其快照之后被其他事务改过的行，即报此错误。",
};
const WITHOUT_SNAPSHOT: Both = Both {
    en: "Set innodb_snapshot_isolation=OFF (the default before 11.6.2) or use another isolation level, as READ COMMITTED, and measure again; or give the error rate beside the throughput, and compare only with servers that are set alike.",
    zh: "设置 innodb_snapshot_isolation=OFF（11.6.2 之前的默认值），或改用其他隔离级别（如 READ COMMITTED）后重新测试；否则应在吞吐量旁注明错误率，并且只与该参数相同的服务器比较。",
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
    let mut classes = run.record.errors.iter().map(|e| e.class);
    let were_retried = most.is_some() && classes.all(|c| c == ErrorClass::Retryable);
    let (says, instead) = match were_retried {
        // ER_CHECKREAD: the row was changed since it was read.
        true if code == "1020" && isolates_snapshots(run) => (SNAPSHOT, WITHOUT_SNAPSHOT),
        true => (RETRIED, INSTEAD),
        false => (SAYS, INSTEAD),
    };
    Ok(Some(Finding {
        rule: ID,
        severity: if share >= ERRORS_INVALID {
            Severity::Invalid
        } else {
            Severity::Suspect
        },
        says,
        instead,
        figures: vec![
            ("errors", Figure::Count(errors)),
            ("count", Figure::Count(count)),
            ("share", Figure::Number(share * 100.0)),
            ("code", Figure::Text(code.into())),
        ],
    }))
}

fn isolates_snapshots(run: &Run<'_>) -> bool {
    let mut settings = run.record.settings.iter();
    settings.any(|s| s.name == "innodb_snapshot_isolation" && s.value.eq_ignore_ascii_case("on"))
}
