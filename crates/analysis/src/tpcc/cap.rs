//! A tpmC that the specification forbids, or that think times cap.

use super::{
    NEW_ORDER, SETTLE_S, TERMINALS_PER_WAREHOUSE, TPMC_PER_WAREHOUSE, has_settled, waits,
    waits_for_one, warehouses,
};
use crate::run::Run;
use crate::thresholds::TPMC_ABOVE_CAP;
use crate::{AnalysisError, Both, Figure, Finding, LoadKind, Severity};

pub(super) const ID: &str = "tpcc-cap";

const NO_WAITS: Both = Both {
    en: "{each} New-Orders a minute and warehouse: more than the {cap} that keying and think times allow, so users waited for nothing, and this is no tpmC as the specification has it.",
    zh: "每仓库每分钟 {each} 个新订单，超过键入与思考时间允许的上限 {cap}：终端没有等待，不是规范意义上的 tpmC。",
};
const NO_WAITS_INSTEAD: Both = Both {
    en: "Compare it only with runs without think times; for an efficiency run with --wait.",
    zh: "只能与同样不带思考时间的结果对比；若要计算效率，请加 --wait 运行。",
};
const ABOVE: Both = Both {
    en: "{each} New-Orders a minute and warehouse, though users keyed and thought as the specification says: it allows at most {cap}.",
    zh: "终端按规范键入和思考，每仓库每分钟却有 {each} 个新订单，超过上限 {cap}。",
};
const ABOVE_INSTEAD: Both = Both {
    en: "Think times, terminals or warehouses are not what the record says: don't use the run.",
    zh: "思考时间、终端数或仓库数与记录不符，不要采用本次结果。",
};
const UNSETTLED: Both = Both {
    en: "{each} New-Orders a minute and warehouse, more than the {cap} that keying and think times allow: all terminals began together, {warmup} s of warm-up before the measurement, and come in waves at first.",
    zh: "每仓库每分钟 {each} 个新订单，超过键入与思考时间允许的上限 {cap}：所有终端同时启动，测量前只预热了 {warmup} 秒，起初事务成批到达。",
};
const UNSETTLED_INSTEAD: Both = Both {
    en: "Warm up for at least {settle} s, better for five minutes, and measure for some minutes.",
    zh: "预热至少 {settle} 秒（最好五分钟），并测量数分钟。",
};
const FEW: Both = Both {
    en: "{terminals} terminals on {warehouses} warehouses can reach at most {most}% of the warehouses' limit, whatever the database does.",
    zh: "{warehouses} 个仓库只有 {terminals} 个终端，无论数据库多快，最多只能达到仓库上限的 {most}%。",
};
const FEW_INSTEAD: Both = Both {
    en: "Run ten terminals for each warehouse, or read tpmC and leave the efficiency out.",
    zh: "每个仓库配十个终端，或只看 tpmC，不看效率。",
};

pub(super) fn check(run: &Run<'_>) -> Result<Option<Finding>, AnalysisError> {
    let record = run.record;
    let warehouses = warehouses(record);
    if run.kind != LoadKind::Closed || warehouses == 0 {
        return Ok(None);
    }
    let new_orders = run.totals.types.get(NEW_ORDER).map_or(0, |t| t.count);
    let each = new_orders as f64 / run.totals.elapsed_s * 60.0 / warehouses as f64;
    let specified = warehouses.saturating_mul(TERMINALS_PER_WAREHOUSE);
    let terminals = run.users() as u64;
    let rate = vec![
        ("each", Figure::Number(each)),
        ("cap", Figure::Number(TPMC_PER_WAREHOUSE)),
    ];
    let waits = waits(record);
    let as_specified = waits == 1.0 && !waits_for_one(record);
    let is_above = as_specified && terminals <= specified && is_above(new_orders, each);
    Ok(if waits == 0.0 {
        (each > TPMC_PER_WAREHOUSE)
            .then(|| finding(Severity::Note, NO_WAITS, NO_WAITS_INSTEAD, rate))
    } else if is_above && !has_settled(record) {
        let warmup = record.warmup_s.unwrap_or_default();
        let more = [
            ("warmup", Figure::Number(warmup)),
            ("settle", Figure::Number(SETTLE_S)),
        ];
        let figures = rate.into_iter().chain(more).collect();
        let (says, instead) = (UNSETTLED, UNSETTLED_INSTEAD);
        Some(finding(Severity::Suspect, says, instead, figures))
    } else if is_above {
        Some(finding(Severity::Invalid, ABOVE, ABOVE_INSTEAD, rate))
    } else if as_specified && terminals < specified {
        let figures = vec![
            ("terminals", Figure::Count(terminals)),
            ("warehouses", Figure::Count(warehouses)),
            (
                "most",
                Figure::Number(terminals as f64 / specified as f64 * 100.0),
            ),
        ];
        Some(finding(Severity::Note, FEW, FEW_INSTEAD, figures))
    } else {
        None
    })
}

/// Whether chance (four standard errors of the number of New-Orders) does not explain it.
fn is_above(new_orders: u64, each: f64) -> bool {
    let chance = 1.0 + crate::thresholds::CHANCE / (new_orders.max(1) as f64).sqrt();
    each > TPMC_PER_WAREHOUSE * TPMC_ABOVE_CAP.max(chance)
}

fn finding(
    severity: Severity,
    says: Both,
    instead: Both,
    figures: Vec<(&'static str, Figure)>,
) -> Finding {
    Finding {
        rule: ID,
        severity,
        says,
        instead,
        figures,
    }
}
