//! Everything people read in a report, in every language, side by side.
//!
//! `{name}` stands for a value. A test sees to it that both languages use the same ones.

use crate::number::seconds;

/// The language of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Chinese (simplified).
    Zh,
}

impl Lang {
    /// Every language there is.
    pub const ALL: [Lang; 2] = [Lang::En, Lang::Zh];

    /// The BCP 47 tag, as in HTML's `lang`.
    pub fn tag(self) -> &'static str {
        match self {
            Lang::En => "en",
            Lang::Zh => "zh-CN",
        }
    }

    pub(crate) fn texts(self) -> &'static Texts {
        match self {
            Lang::En => &EN,
            Lang::Zh => &ZH,
        }
    }
}

impl std::str::FromStr for Lang {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "en" => Ok(Lang::En),
            "zh" | "zh-CN" => Ok(Lang::Zh),
            _ => Err(format!("no language {text}; there are en and zh")),
        }
    }
}

impl Texts {
    /// A span of time: `8.4 s`, `1 h 0 min 3 s`.
    pub fn duration(&self, s: f64) -> String {
        if s < 600.0 || !s.is_finite() {
            return fill(self.duration_s, &[("s", &seconds(s))]);
        }
        // In range: finite, positive; larger than a u64 saturates.
        let whole = s.round() as u64;
        let (h, min, s) = (whole / 3600, whole / 60 % 60, whole % 60);
        let template = if h > 0 {
            self.duration_h
        } else {
            self.duration_min
        };
        let (h, min, s) = (h.to_string(), min.to_string(), s.to_string());
        fill(template, &[("h", &h), ("min", &min), ("s", &s)])
    }

    /// A moment of the measurement, in seconds from its start.
    pub fn moment(&self, s: f64) -> String {
        fill(self.duration_s, &[("s", &format!("{s:.0}"))])
    }
}

/// Puts values in place of `{name}`; a value's own braces stay.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (place, after) = after.split_once('}').unwrap_or((after, ""));
        let mut words = place.split('|');
        let name = words.next().unwrap_or_default();
        let value = values.iter().find(|(n, _)| *n == name);
        let value = value.map_or("", |(_, v)| *v);
        text.push_str(match (words.next(), words.next()) {
            (Some(one), Some(many)) => {
                if value == "1" {
                    one
                } else {
                    many
                }
            }
            _ => value,
        });
        rest = after;
    }
    text + rest
}

macro_rules! texts {
    ($($name:ident: $en:literal, $zh:literal;)*) => {
        /// One language's texts.
        pub(crate) struct Texts { $(pub $name: &'static str,)* }
        const EN: Texts = Texts { $($name: $en,)* };
        const ZH: Texts = Texts { $($name: $zh,)* };
        #[cfg(test)]
        const BOTH: &[(&str, &str, &str)] = &[$((stringify!($name), $en, $zh),)*];
    };
}
pub(crate) use texts;

texts! {
    // Between sentences: Chinese puts no space there.
    gap: " ", "";
    comma: ", ", "、";
    colon: ": ", "：";
    duration_s: "{s} s", "{s} 秒";
    duration_min: "{min} min {s} s", "{min} 分 {s} 秒";
    duration_h: "{h} h {min} min {s} s", "{h} 小时 {min} 分 {s} 秒";
    // The top of the report.
    report: "Benchmark report", "压测报告";
    title: "{workload} on {server}", "{server} 压测：{workload}";
    unknown_server: "an unreached target", "未连上的目标库";
    headline_closed: "{tps} transactions/s; 95% of them took at most {p95} ms ({mean} ms on average).",
        "吞吐量 {tps} TPS，95% 的事务在 {p95} ms 内完成（平均 {mean} ms）。";
    headline_open: "{tps} transactions/s; 95% of them ended within {p95} ms of their scheduled start ({mean} ms on average).",
        "吞吐量 {tps} TPS，95% 的事务在计划发起后 {p95} ms 内完成（平均 {mean} ms）。";
    headline_due: "{tps} transactions/s; 95% of them ended within {p95} ms of being due ({mean} ms on average).",
        "吞吐量 {tps} TPS，95% 的事务在应发起后 {p95} ms 内完成（平均 {mean} ms）。";
    headline_queries: "{count} queries and refreshes ended in {seconds} s.", "{seconds} 秒内完成 {count} 个查询与刷新。";
    headline_composite: "{qphh} QphH (unaudited); {count} queries and refreshes ended in {seconds} s.",
        "{qphh} QphH（未经审计），{seconds} 秒内完成 {count} 个查询与刷新。";
    headline_none: "No transaction ended: there is no result.", "没有任何事务完成，本次压测无结果。";
    how_closed: "{sessions} {sessions|session|sessions} ran transactions one after the other, each waiting for the reply before it sent the next (closed loop).",
        "{sessions} 个会话并发执行，每个会话收到应答后才发起下一个事务（闭环）。";
    how_open: "Transactions arrived at {rate} per second, whatever the replies did, and {sessions} {sessions|session|sessions} served them (open loop).",
        "事务按每秒 {rate} 个的计划速率到达，不受应答快慢影响，由 {sessions} 个会话处理（开环）。";
    how_steps: "Transactions arrived at {count} rates from {low} to {high} per second, one after the other, whatever the replies did, and {sessions} {sessions|session|sessions} served them (open loop).",
        "事务依次按 {count} 档速率到达（每秒 {low}～{high} 个），不受应答快慢影响，由 {sessions} 个会话处理（开环）。";
    how_search: "The rate of arrivals was raised and lowered to find the highest that keeps {objective}, with {sessions} {sessions|session|sessions} (open loop).",
        "调整到达速率，寻找满足 {objective} 的最高速率，由 {sessions} 个会话处理（开环）。";
    figures_confirmed: "The figures are of the rate's confirmation.", "各项数据取自该速率的复测。";
    figures_last: "The figures are of the last rate tried, {rate} per second.", "各项数据取自最后尝试的速率，每秒 {rate} 个。";
    how_terminals: "{terminals} {terminals|terminal|terminals} shared {sessions} {sessions|session|sessions}, each waiting for the reply before it sent the next transaction (closed loop).",
        "{terminals} 个终端共用 {sessions} 个会话，每个终端收到应答后才发起下一个事务（闭环）。";
    how_thinking: "Each terminal paused between two transactions: {think}.",
        "每个终端在两个事务之间停顿：{think}。";
    how_distance: "Every round trip was made {rtt} ms longer inside the client.",
        "客户端给每次往返额外增加了 {rtt} ms 延迟。";
    found: "Highest rate that keeps {objective}: {rate} per second, confirmed over {held} ({because}).",
        "满足 {objective} 的最高速率：每秒 {rate} 个，经 {held}复测确认（{because}）。";
    found_refuted: "No rate that keeps {objective} was confirmed: {rate} per second did not keep it over {held} ({because}).",
        "没有经复测确认满足 {objective} 的速率：每秒 {rate} 个在 {held}复测中未满足（{because}）。";
    found_unconfirmed: "{rate} per second kept {objective} over {held}, and the run ended before that was confirmed ({because}).",
        "每秒 {rate} 个在 {held}内满足 {objective}，但压测在复测前结束（{because}）。";
    found_none: "No rate kept {objective}; the lowest tried was {rate} per second ({because}).",
        "没有速率满足 {objective}；试过的最低速率为每秒 {rate} 个（{because}）。";
    found_nothing: "The search for the highest rate ended before a rate was tried.", "寻找最高速率的过程在尝试任何速率之前就已结束。";
    found_probe_only: "The search for the highest rate ended with its probe: no rate was held to its end.", "寻找最高速率的过程在试探后即结束，没有完整测过任何速率。";
    away: "Could not be reached for a time: {hosts}.", "曾有主机无法连接：{hosts}。";
    away_more: "Could not be reached for a time: {hosts}, and {more} {more|time|times} more.", "曾有主机无法连接：{hosts}，另有 {more} 次。";
    away_host: "{host} ({length})", "{host}（{length}）";
    // What must be known before the figures are used.
    fewer_sessions: "{asked} {asked|session was|sessions were} asked for and {opened} could be opened: the figures are of {opened}.",
        "要求 {asked} 个会话，实际只建立了 {opened} 个：以下数据基于 {opened} 个会话。";
    fewer_because: "What kept the other sessions away: {why}.", "其余会话未能建立的原因：{why}。";
    generator_late: "The load generator itself was late: 99% of its starts came within {p99} ms of their time. The response times are in part its own.",
        "压测客户端自身发起不及时：99% 的事务在应发起时刻后 {p99} ms 内发起。响应时间有一部分来自客户端自身。";
    steps_late: "The load generator itself was late in {count} of {steps} steps; their response times are in part its own.",
        "在 {steps} 档速率中有 {count} 档压测客户端自身发起不及时，其响应时间有一部分来自客户端自身。";
    arrivals_dropped: "{dropped} {dropped|arrival|arrivals} found the backlog full and {dropped|was|were} dropped: in no latency.",
        "有 {dropped} 个到达因排队已满被丢弃，不计入任何延迟。";
    arrivals_unserved: "{unserved} {unserved|arrival|arrivals} ({share}) {unserved|was|were} due and not served at the end, in no latency: the load was more than these sessions could take.",
        "有 {unserved} 个到达（{share}）到结束时仍未处理完，不计入任何延迟：负载超出了这些会话的处理能力。";
    how_long: "Measured for {elapsed}.", "测量时长 {elapsed}。";
    how_long_warm: "Measured for {elapsed}, after {warmup} of warm-up that does not count.",
        "测量时长 {elapsed}，此前预热 {warmup}，预热不计入结果。";
    no_errors: "No statement failed.", "全程无报错。";
    some_errors: "{errors} {errors|transaction|transactions} ended with an error that the run went on after ({share} of all attempts); {reconnects} {reconnects|session was|sessions were} opened again.",
        "有 {errors} 次事务报错，但压测继续进行（占全部尝试的 {share}），会话重连 {reconnects} 次。";
    tables_as_expected: "After the run, {tables} {tables|table holds|tables hold} {rows} {rows|row|rows}, as many as expected.",
        "压测后 {tables} 张表共 {rows} 行，与预期一致。";
    tables_otherwise: "After the run, {wrong} of {tables} {tables|table|tables} {wrong|does|do} not hold as many rows as expected; see “Tables”.",
        "压测后 {tables} 张表中有 {wrong} 张行数与预期不符，详见“表数据”。";
    interrupted: "The user ended this run after {elapsed}. The figures are of what was measured until then.",
        "压测在 {elapsed}后被用户中止，以下数据截至中止时。";
    failed: "This run ended with an error: {reason}", "压测因错误终止：{reason}";
    no_end: "No end was written for this run: it is going on, or its process died. The figures are summed from its {intervals} stored {intervals|interval|intervals}.",
        "本次压测没有结束记录：可能仍在运行，也可能进程已异常退出。以下数据由已保存的 {intervals} 个采样区间汇总得出。";
    // Key figures.
    transactions_per_s: "Transactions/s", "事务/秒（TPS）";
    statements_per_s: "Statements/s", "语句/秒（QPS）";
    transactions: "Transactions", "事务数";
    average: "Average", "平均延迟";
    median: "Median", "中位数（P50）";
    percentile: "{percent}th percentile", "P{percent}";
    maximum: "Slowest", "最大延迟";
    errors_passed_over: "Errors passed over", "未终止压测的错误";
    service_time: "Service time: from handing a transaction's first statement over until the session has its last reply and can go on.",
        "服务时间：从提交事务的第一条语句到会话拿到最后一个应答、可以继续执行为止。";
    response_time: "Response time: from a transaction's scheduled arrival until the session has its last reply, waiting included.",
        "响应时间：从事务的计划到达时刻到会话拿到最后一个应答，含排队等待。";
    response_time_due: "Response time: from the moment a transaction was due (the end of its terminal's pause) until the session has its last reply, the wait for a session included.",
        "响应时间：从事务应发起的时刻（终端停顿结束）到会话拿到最后一个应答，含等待会话的时间。";
    latency_ends_at_arrival: "Recorded by an earlier version: these latencies end when the last reply reaches the client's host and leave out what that host made the session wait. Other tools, and newer records, count it.",
        "本记录由旧版本生成：延迟截至最后一个应答到达客户端主机，不含会话在本机等待的时间；其他工具和新版本的记录均计入这段时间。";
    // The load.
    load: "Load", "负载方式";
    terminals: "Terminals", "终端数";
    terminals_on: "{terminals} on {sessions} {sessions|session|sessions}", "{terminals} 个，共用 {sessions} 个会话";
    think_time: "Think time", "思考时间";
    distance: "Injected round trip", "每次往返增加";
    spacing: "Arrivals spaced", "到达间隔";
    spacing_poisson: "at random (Poisson)", "随机（泊松）";
    spacing_constant: "at equal distances", "等间隔";
    served: "Served", "已处理";
    delayed: "Arrivals delayed", "无空闲会话而延后";
    dropped: "Arrivals dropped", "排队已满而丢弃";
    unserved: "Still waiting at the end", "结束时仍未处理";
    count_of: "{count} ({share})", "{count}（{share}）";
    statement_timeout: "Statement time-out", "语句超时";
    parts: "Where the time went", "时间构成";
    part: "Part", "部分";
    part_response: "Response time, from when it was due", "响应时间（自应发起时刻起）";
    part_wait: "of it: waiting for a session", "其中：等待会话";
    part_service: "of it: service time",
        "其中：服务时间";
    part_service_alone: "Service time", "服务时间";
    part_server: "of it: server and network", "其中：服务端与网络";
    part_client: "of it: the client's share", "其中：客户端（等待本机 CPU、读取应答）";
    part_lateness: "of it: the generator's own lateness, where a session was free", "其中：有空闲会话时压测客户端自身的延后";
    steps: "Steps", "各档速率";
    step_purpose: "What for", "用途";
    purpose_asked: "asked for", "指定";
    purpose_probe: "probe, no schedule", "试探（不限速）";
    purpose_climb: "climb", "升速";
    purpose_bisect: "bisect", "折半";
    purpose_confirm: "confirm", "复测";
    step_rate: "Asked/s", "计划速率/秒";
    step_served: "Served/s", "实际/秒";
    step_delayed: "Delayed", "延后";
    step_dropped: "Dropped", "丢弃";
    step_unserved: "Unserved", "未处理";
    step_kept: "Objective", "目标";
    kept: "kept: {because}", "满足：{because}";
    not_kept: "not kept: {because}", "未满足：{because}";
    was_late: "generator late", "客户端延后";
    outages: "Outages", "中断";
    outage_from: "From", "开始";
    outage_length: "Length", "时长";
    outage_first: "First error", "首个错误";
    not_over: "{length}, not over at the end", "{length}，结束时仍未恢复";
    outage_says: "Hosts could not be reached for {outage} of {elapsed}.", "在 {elapsed}中有 {outage}存在无法连接的主机。";
    outage_outside: "Outside of that, {tps} transactions/s.", "其余时间吞吐量 {tps} TPS。";
    outage_outside_open: "Outside of that, {tps} transactions/s: what waited is caught up after it.", "其余时间吞吐量 {tps} TPS，其中含恢复后补上的积压事务。";
    hosts: "Hosts", "各主机";
    role: "Role", "角色";
    role_any: "reads and writes", "读写";
    role_read: "reads", "只读";
    // Charts.
    rates_chart: "Latency by rate", "延迟随速率变化";
    rates_says: "Response times at each rate held, from {low} to {high} per second (logarithmic scale). Where they turn up, the target no longer keeps up.",
        "各档速率下的响应时间，每秒 {low}～{high} 个（对数坐标）。曲线陡升处即目标库跟不上的位置。";
    rates_found: "{rate} per second", "每秒 {rate} 个";
    axis_rate: "arrivals per second", "每秒到达数";
    asked_rate: "asked", "计划";
    outage_shaded: "Shaded between upright lines: a host could not be reached.", "竖线之间的阴影部分有主机无法连接。";
    throughput_chart: "Throughput over time", "吞吐量随时间变化";
    throughput_says: "Mean {mean} transactions/s; lowest {low} at {low_at}, highest {high} at {high_at}.",
        "平均 {mean} TPS；最低 {low}（{low_at}），最高 {high}（{high_at}）。";
    types_chart: "Throughput by transaction type", "各类事务吞吐量随时间变化";
    types_says: "Transactions/s of the {count} most frequent types.", "出现最多的 {count} 类事务的 TPS。";
    latency_chart: "Latency over time", "延迟随时间变化";
    latency_says: "Logarithmic scale. The 95th percentile lay between {low} and {high} ms; the slowest transaction took {max} ms, around {max_at}.",
        "对数坐标。P95 在 {low}～{high} ms 之间；最慢的事务耗时 {max} ms，出现在 {max_at}前后。";
    distribution_chart: "Latency distribution", "延迟分布";
    distribution_says: "Share of transactions by latency (logarithmic scale). Half took at most {p50} ms, 95% at most {p95} ms, 99% at most {p99} ms.",
        "各延迟区间的事务占比（对数坐标）。50% 不超过 {p50} ms，95% 不超过 {p95} ms，99% 不超过 {p99} ms。";
    curve_chart: "Latency by percentile", "延迟百分位曲线";
    curve_says: "How long the slowest took: the further right, the rarer. The slowest of {count} took {max} ms.",
        "越往右越罕见。{count} 个事务中最慢的一个耗时 {max} ms。";
    errors_chart: "Errors over time", "错误随时间变化";
    errors_says: "Errors that the run went on after: {errors}; sessions opened again: {reconnects}.",
        "未终止压测的错误 {errors} 次，会话重连 {reconnects} 次。";
    queue_chart: "Arrivals waiting over time", "排队事务数随时间变化";
    queue_says: "Transactions due that no session was free for; at most {high}. A growing queue means that the target does not keep up with the rate asked for.",
        "已到计划时刻但尚无空闲会话处理的事务数，最多 {high} 个。持续增长说明目标库跟不上给定速率。";
    summed: "Each point sums {count} {count|interval|intervals} ({length}).", "每个点由 {count} 个采样区间（{length}）汇总。";
    warmup_shaded: "Shaded: warm-up, which does not count.", "阴影部分为预热，不计入结果。";
    chart_data: "Show the figures", "查看数据";
    axis_seconds: "seconds from the start of the measurement", "自测量开始的秒数";
    axis_minutes: "minutes from the start of the measurement", "自测量开始的分钟数";
    axis_tps: "transactions/s", "TPS";
    axis_ms: "ms", "ms";
    axis_share: "% of transactions", "事务占比 %";
    axis_percentile: "percentile", "百分位";
    axis_errors: "per second", "每秒次数";
    axis_queue: "transactions waiting", "排队事务数";
    no_chart: "Nothing was measured, so there is nothing to draw.", "没有测量数据，无图可画。";
    time: "Time", "时间";
    latency_column: "Latency", "延迟";
    share: "Share", "占比";
    max: "max", "最大";
    mean: "mean {value}", "平均 {value}";
    errors_per_s: "Errors/s", "错误/秒";
    reconnects_per_s: "Reconnects/s", "重连/秒";
    waiting: "Waiting", "排队";
    warmup: "warm-up", "预热";
    // Tables.
    types: "Transaction types", "事务类型";
    transaction_type: "Type", "类型";
    count: "Count", "次数";
    mean_ms: "Mean (ms)", "平均（ms）";
    p50_ms: "p50 (ms)", "P50（ms）";
    p95_ms: "p95 (ms)", "P95（ms）";
    p99_ms: "p99 (ms)", "P99（ms）";
    max_ms: "Slowest (ms)", "最大（ms）";
    statements: "Statements", "语句";
    reads: "Reads (returned rows)", "读（返回行）";
    writes: "Writes (changed rows)", "写（改动行）";
    others: "Others (transaction control, writes that changed nothing)", "其他（事务控制、未改动任何行的写）";
    noop_writes: "of them: INSERT, UPDATE, DELETE that changed nothing", "其中：未改动任何行的 INSERT、UPDATE、DELETE";
    total: "Total", "合计";
    per_second: "Per second", "每秒";
    errors: "Errors", "错误";
    error_code: "Code", "错误码";
    error_class: "Class", "类别";
    first_message: "First message", "首条信息";
    class_retryable: "retryable", "可重试";
    class_lost: "connection lost", "连接断开";
    class_refused: "refused", "连接被拒";
    class_constraint: "constraint", "违反约束";
    class_missing: "missing", "对象不存在";
    class_fatal: "fatal", "致命";
    fairness_says: "Each session ran {events} transactions on average (standard deviation {events_dev}) and was busy for {time} s (standard deviation {time_dev}).",
        "平均每个会话执行 {events} 个事务（标准差 {events_dev}），忙碌 {time} 秒（标准差 {time_dev}）。";
    target: "Target", "目标库";
    engine: "Engine", "数据库";
    version: "Version", "版本";
    url: "URL", "连接地址";
    settings: "Settings of the database", "数据库参数";
    setting: "Setting", "参数";
    value: "Value", "值";
    default_value: "Default", "默认值";
    settings_not_compared: "Settings of the databases are not compared: the engines are different.", "数据库引擎不同，未比较数据库参数。";
    no_settings: "None were read.", "未读取到数据库参数。";
    client: "Client host", "压测客户端";
    host: "Host", "主机名";
    os: "System", "操作系统";
    kernel: "Kernel", "内核";
    cpu: "CPU", "CPU";
    cores: "Cores usable", "可用核数";
    memory: "Memory", "内存";
    client_cpu: "CPU used", "CPU 消耗";
    client_cpu_says: "{user} user + {system} system: {share} of its {cores} cores, {each} µs per statement",
        "用户态 {user}，内核态 {system}；占 {cores} 核的 {share}，每条语句 {each} µs";
    client_cpu_awake: "{user} user + {system} system, of it {awake} to stay awake for arrivals; without that {share} of its {cores} cores, {each} µs per statement",
        "用户态 {user}，内核态 {system}，其中 {awake} 用于忙轮询等待下一个到达；不计这部分，占 {cores} 核的 {share}，每条语句 {each} µs";
    client_memory: "Memory used at most", "内存峰值";
    run: "Run", "压测";
    workload: "Workload", "负载";
    sessions: "Sessions", "会话数";
    executors: "Executor threads", "执行线程";
    rate: "Arrivals", "到达速率";
    rate_per_s: "{rate} per second", "每秒 {rate} 个";
    rate_steps: "in steps", "分档";
    rate_search: "searched for", "搜索";
    rate_none: "closed loop", "闭环";
    seed: "Seed", "随机种子";
    started: "Started", "开始时间";
    measured: "Measured", "测量时长";
    state: "State", "状态";
    state_running: "no end written", "无结束记录";
    state_finished: "finished", "正常结束";
    state_interrupted: "ended by the user", "用户中止";
    state_failed: "failed", "失败";
    options: "Options", "运行选项";
    options_default: "Left at their defaults ({count})", "保持默认值（{count} 项）";
    options_none: "All options were left at their defaults.", "所有选项均为默认值。";
    option: "Option", "选项";
    source: "From", "来源";
    source_default: "default", "默认值";
    source_config: "configuration file", "配置文件";
    source_command: "command line", "命令行";
    tables: "Tables", "表数据";
    table: "Table", "表名";
    rows_before: "Rows before", "压测前行数";
    rows_after: "Rows after", "压测后行数";
    rows_expected: "Expected", "预期行数";
    key_range: "Keys after", "压测后主键范围";
    rows_otherwise: "{rows} rows after the run, {expected} expected", "压测后 {rows} 行，预期 {expected} 行";
    rows_differ: "differs", "不符";
    findings: "Findings", "审查结论";
    finding_invalid: "INVALID", "无效";
    finding_suspect: "SUSPECT", "存疑";
    finding_note: "NOTE", "提示";
    finding_line: "{severity} [{rule}] {says}", "{severity} [{rule}] {says}";
    tags: "Tags", "标签";
    note: "Note", "备注";
    notes: "Not everything could be read", "部分信息未能采集";
    repeat: "To run it again", "复现命令";
    repeat_says: "Passwords are shown as ***; put yours in.", "密码以 *** 代替，运行前请替换。";
    words: "What the words mean", "术语说明";
    word_transaction: "Transaction", "事务";
    word_transaction_says: "One round of the workload's statements, from BEGIN to COMMIT where it has them.",
        "负载的一轮语句，有 BEGIN/COMMIT 时即从 BEGIN 到 COMMIT。";
    word_session: "Session", "会话";
    word_session_says: "One connection to the database.", "一条数据库连接。";
    word_percentile: "95th percentile (p95)", "P95";
    word_percentile_says: "95 of 100 transactions took this long or less, 5 took longer. Users notice those, so it tells more than the mean.",
        "100 个事务中有 95 个耗时不超过该值，另外 5 个更慢。用户感受到的往往是慢的那部分，因此它比平均值更有意义。";
    word_closed: "Closed loop", "闭环";
    word_closed_says: "A session sends its next transaction only when the last is answered. When the database is slow, fewer arrive: the load gives way, and waiting users don't show in the latency.",
        "会话收到应答后才发下一个事务。数据库变慢时发出的事务也随之减少，因此延迟里看不到用户排队的时间。";
    word_open: "Open loop", "开环";
    word_open_says: "Transactions arrive on a schedule, as from many independent users; latency counts from the scheduled moment.",
        "事务按计划到达，如同大量独立用户；延迟从计划时刻起算。";
    made_by: "Made by Tidemark {version} from run {id} (record schema {schema}).",
        "由 Tidemark {version} 生成，压测编号 {id}（记录格式 {schema}）。";
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{')
            .skip(1)
            .filter_map(|part| part.split_once('}')?.0.split('|').next())
            .collect()
    }

    #[test]
    fn both_languages_say_the_same_values() {
        say_the_same(BOTH);
    }

    /// Of any table of texts.
    pub(crate) fn say_the_same(both: &[(&str, &str, &str)]) {
        for (name, en, zh) in both {
            assert!(
                *name == "gap" || !(en.is_empty() || zh.is_empty()),
                "{name}"
            );
            assert_eq!(placeholders(en), placeholders(zh), "{name}");
        }
    }

    #[test]
    fn values_are_put_in_as_they_are() {
        assert_eq!(
            fill("a {x} b {y}", &[("x", "{y}"), ("y", "2")]),
            "a {y} b 2"
        );
        assert_eq!(fill("{unknown}!", &[]), "!");
        assert_eq!(fill("open {", &[]), "open ");
        let counted = |n| fill("{n} {n|run ends|runs end}", &[("n", n)]);
        assert_eq!(counted("1"), "1 run ends");
        assert_eq!(counted("11"), "11 runs end");
    }

    #[test]
    fn durations_have_fitting_units() {
        let (en, zh) = (Lang::En.texts(), Lang::Zh.texts());
        assert_eq!(en.duration(8.44), "8.4 s");
        assert_eq!(en.duration(120.2), "120 s");
        assert_eq!(en.duration(725.0), "12 min 5 s");
        assert_eq!(zh.duration(3603.0), "1 小时 0 分 3 秒");
    }

    #[test]
    fn languages_are_named_by_their_tags() {
        for lang in Lang::ALL {
            assert_eq!(lang.tag().parse(), Ok(lang));
        }
        assert!("de".parse::<Lang>().is_err());
    }
}
