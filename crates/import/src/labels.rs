//! Short lines that say what follows: an option of a configuration, a client, all clients together.

use crate::command::canonical;
use crate::scan::labelled;

/// Words that modes of servers have for values.
const MODES: [&str; 4] = ["static", "dynamic", "optimistic", "pessimistic"];

/// A mode of the server that a statement sets or a list of variables tells, and its word:
/// `SET GLOBAL tidb_txn_mode = 'optimistic';`, `| tidb_partition_prune_mode | dynamic |`.
pub(crate) fn mode(text: &str) -> Option<(&str, &'static str)> {
    let plain = text.trim().trim_start_matches("mysql>").trim_start();
    let (name, value) = match plain.strip_prefix('|') {
        Some(row) => row.strip_suffix('|')?.split_once('|')?,
        None => {
            let is_set = plain.get(..4)?.eq_ignore_ascii_case("set ");
            plain.split_once('=').filter(|_| is_set)?
        }
    };
    // Behind `global`, or `@@global.`.
    let name = name.trim().rsplit([' ', '.', '@']).next()?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let value = value.trim().trim_end_matches(';').trim_end();
    let value = value.trim_matches(['"', '\'', '`']);
    let word = MODES.into_iter().find(|m| value.eq_ignore_ascii_case(m))?;
    (name.ends_with("_mode") && name.bytes().all(is_name)).then_some((name, word))
}

/// Options that a configuration of sysbench has, which stand alone on a line.
pub(crate) fn assignment(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let (name, value) = (name.trim(), value.trim());
    let known = name.starts_with("mysql-")
        || name.starts_with("pgsql-")
        || matches!(
            canonical(name).as_str(),
            "threads"
                | "time"
                | "report-interval"
                | "tables"
                | "table-size"
                | "db-driver"
                | "events"
                | "rate"
                | "percentile"
                | "rand-type"
                | "warmup-time"
                | "range-selects"
                | "secondary"
                | "auto-inc"
                | "db-ps-mode"
                | "skip-trx"
        );
    (known && !value.is_empty() && !value.contains(' ')).then_some((name, value))
}

/// Whether a heading or a label is of all clients together: `合计`, `Total of both clients:`.
pub(crate) fn is_of_all(text: &str) -> bool {
    let lower = text.to_lowercase();
    let chinese = ["合计", "汇总", "总计", "总和"];
    let english = ["total", "totals", "sum", "together", "combined"];
    let has_own = |word: &&str| {
        let mut own = lower.split(|c: char| !c.is_ascii_alphabetic());
        own.any(|w| w == *word)
    };
    // A line of figures is none.
    let has_figures = text.contains(['|', ',', '=', ';', '\t'])
        || text.chars().filter(char::is_ascii_digit).count() > 2;
    !has_figures && (chinese.iter().any(|w| lower.contains(w)) || english.iter().any(has_own))
}

/// Whether a line states a throughput or a latency in words of no known tool: `Requests/sec: 1234.5`,
/// `- 平均延迟：12 ms`.
pub(crate) fn states_a_figure(text: &str) -> bool {
    let plain = text.trim().trim_start_matches(['-', '*', '>', '•', ' ']);
    let parts = labelled(plain).or_else(|| plain.split_once('='));
    let Some((label, value)) = parts.filter(|(label, _)| label.chars().count() <= 40) else {
        return false;
    };
    let value = value.trim_start_matches(['~', '≈', '约', '*', ' ', '=']);
    let lower = label.to_lowercase();
    let mut own = lower.split(|c: char| !c.is_ascii_alphanumeric());
    let rates = ["tps", "qps", "rps", "tpmc", "tpm", "nopm", "throughput"];
    let has = |words: &[&str]| words.iter().any(|w| lower.contains(w));
    let is_rate = own.any(|w| rates.contains(&w)) || has(&["/sec", "吞吐", "每秒"]);
    let is_latency = has(&["latency", "延迟", "响应时间"])
        && has(&["avg", "average", "mean", "max", "95", "99", "平均", "最大"]);
    value.starts_with(|c: char| c.is_ascii_digit())
        && (is_rate || is_latency)
        && plain.chars().count() <= 100
}

/// Whether a sentence tells a throughput or a latency: `TPS: 100, P95: 9 ms`, `最终 QPS 达到 12.3 万`.
pub(crate) fn tells_a_figure(text: &str) -> bool {
    let mut parts = text.split([',', '，', ';', '；', '。']);
    let is_of_sysbench = text.contains(" per sec.)");
    let any = parts.any(|part| states_a_figure(part) || is_told(part));
    text.chars().count() <= 120 && (is_of_sysbench || any)
}

/// Whether a word for a figure has its number right behind it, or behind a sign or a verb.
fn is_told(part: &str) -> bool {
    let words = [
        "tps",
        "qps",
        "rps",
        "tpmc",
        "nopm",
        "throughput",
        "吞吐量",
        "延迟",
        "响应时间",
        "latency",
        "p95",
        "p99",
    ];
    let verbs = ["达到", "为", "约", "是", "is", "was", "reached"];
    let lower = part.to_lowercase();
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    words.iter().any(|word| {
        lower.match_indices(*word).any(|(at, _)| {
            let before = lower.get(..at).and_then(|t| t.chars().next_back());
            let rest = lower.get(at + word.len()..).unwrap_or_default();
            let is_own = !is_letter(before) && !is_letter(rest.chars().next());
            let signs = |c: char| c.is_whitespace() || matches!(c, ':' | '：' | '=' | '~' | '≈');
            let rest = rest.trim_start_matches(signs);
            let said = verbs.iter().find_map(|verb| rest.strip_prefix(*verb));
            let value = said.unwrap_or(rest).trim_start_matches(signs);
            is_own && value.starts_with(|c: char| c.is_ascii_digit())
        })
    })
}

/// Whether a heading says nothing but that a command's output follows: `Output`, `3.2 测试结果`.
pub(crate) fn is_of_output(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let sign = |c: char| !c.is_alphabetic();
    let words = [
        "output",
        "outputs",
        "result",
        "results",
        "log",
        "输出",
        "结果",
        "测试结果",
        "运行结果",
        "执行结果",
        "输出结果",
        "日志",
    ];
    words.contains(&lower.trim_matches(sign))
}

/// Which client of several a short line announces: `client 1`, `Client #2:`, `客户端 3`, `压测机B`.
pub(crate) fn client(text: &str) -> Option<String> {
    let text = text.trim_matches([
        '#', '*', ' ', ':', '：', '-', '=', '[', ']', '【', '】', '<', '>', '(', ')',
    ]);
    if text.chars().count() > 40 || text.contains(['|', ',', '=']) {
        return None;
    }
    let lower = text.to_lowercase();
    let words = [
        "client",
        "客户端",
        "压测机",
        "loader",
        "load generator",
        "压测端",
        "发压机",
        "驱动机",
    ];
    let (at, word) = words.iter().find_map(|w| Some((lower.find(w)?, *w)))?;
    let label = |t: &str| {
        let t = t.trim_matches(|c: char| !c.is_alphanumeric());
        let short = !t.is_empty() && t.chars().count() <= 2;
        let plain = t.chars().all(|c| c.is_ascii_digit())
            || t.len() == 1
            || "一二三四五六七八九十".contains(t);
        (short && plain).then(|| t.to_string())
    };
    let after = lower.get(at + word.len()..)?;
    if word.is_ascii() && after.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let after = after.split(['(', '（', ',', '，', ':', '：']).next()?;
    if let Some(label) = label(after) {
        return Some(label);
    }
    let before = lower.get(..at)?.trim();
    let named = before.trim_start_matches('第');
    // `三台客户端`, `三客户端压测` are three; `第三台客户端`, `3号客户端`, `A客户端` is one.
    let is_number =
        named.starts_with(|c: char| c.is_ascii_digit() || "一二三四五六七八九十两双".contains(c));
    let is_count = named == before && is_number && !named.ends_with('号');
    label(named.trim_end_matches(['个', '台', '号', ' '])).filter(|_| !is_count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_named_by_the_document() {
        for (text, label) in [
            ("### Client 1", "1"),
            ("client #2:", "2"),
            ("客户端 3", "3"),
            ("**压测机B**", "b"),
            ("第2个客户端", "2"),
            ("== client 1 (10.0.0.1)", "1"),
        ] {
            assert_eq!(client(text).as_deref(), Some(label), "{text}");
        }
        for text in [
            "number of clients: 8",
            "client settings",
            "客户端配置",
            "三台客户端",
            "三客户端压测",
            "2 clients",
            "",
        ] {
            assert_eq!(client(text), None, "{text}");
        }
    }
}
