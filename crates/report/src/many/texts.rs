//! What the document of many runs says, in every language.

use crate::texts::{Lang, texts};

pub(super) fn of(lang: Lang) -> &'static Texts {
    match lang {
        Lang::En => &EN,
        Lang::Zh => &ZH,
    }
}

texts! {
    // The top.
    // English tells one from several.
    run_one: "1 run", "1 次压测";
    run_many: "{count} runs", "{count} 次压测";
    title_runs: "{runs}: {workloads}", "{workloads}：{runs}";
    title_study: "{name}", "{name}";
    more: "{names} and {count} more", "{names} 等另外 {count} 项";
    parenthesised: "{text} ({aside})", "{text}（{aside}）";
    from_to: "{from} to {to}", "{from} 至 {to}";
    summary: "Summary", "结论摘要";
    contents: "Contents", "目录";
    what: "{runs} of {workloads} on {targets}, {measured} of measurement in all.",
        "对 {targets} 执行 {workloads}，共 {runs}，累计测量 {measured}。";
    what_repeats: "Each point of the matrix was repeated {repeats} times.", "每个测试点重复 {repeats} 次。";
    best_at: "{workload}: at most {tps} transactions/s, at {load}; 95% took at most {p95} ms.",
        "{workload}：最高吞吐量 {tps} TPS（{load}），P95 延迟 {p95} ms。";
    best_only: "{workload}: {tps} transactions/s; 95% took at most {p95} ms.",
        "{workload}：吞吐量 {tps} TPS，P95 延迟 {p95} ms。";
    best_queries: "{workload}: {count} queries and refreshes in {seconds} s.",
        "{workload}：{seconds} 秒内完成 {count} 个查询与刷新。";
    best_queries_composite: "{workload}: {qphh} QphH (unaudited), {count} queries and refreshes in {seconds} s.",
        "{workload}：{qphh} QphH（未经审计），{seconds} 秒内完成 {count} 个查询与刷新。";
    best_tpmc: "That is {tpmc} tpmC (unaudited).", "折合 {tpmc} tpmC（未经审计）。";
    best_apart: "Its repeats made between {least} and {most}, so this mean is the result of none: see the findings.",
        "各次重复在 {least}～{most} TPS 之间，该均值不能代表任何一次，详见审查结论。";
    best_price: "One tpmC costs {each} {currency} ({amount} {currency} over three years).",
        "每 tpmC 价格为 {each} {currency}（三年总价 {amount} {currency}）。";
    best_alone: "{workload}: at most {tps} transactions/s, at {load}.", "{workload}：最高吞吐量 {tps} TPS（{load}）。";
    at_equal_load: "At {load}, where all were measured: {series}.", "同为{load}时：{series}。";
    at_no_equal_load: "{workload}: no load was measured of all, so the latencies of one can't be put beside those of another.",
        "{workload}：各方没有共同的负载档位，其延迟不能直接对比。";
    at_equal_load_of: "{series} {tps} transactions/s, p95 {p95} ms", "{series} {tps} TPS、P95 {p95} ms";
    not_told_range: "{from} to {to} can't be told apart by these runs.", "以现有数据，{from} 至 {to} 的吞吐量无法区分高低。";
    not_told_list: "It can't be told from {loads} by these runs.", "以现有数据，无法与 {loads} 的吞吐量区分高低。";
    objective_broken_some: "not kept in {n} of {all} repeats: {why}", "{all} 次重复中有 {n} 次未达标：{why}";
    best_invalid: "These figures must not be used, and there are no others: see the findings.", "以上数据无效、不可采用，且没有其他有效压测，详见审查结论。";
    best_none: "{workload}: no run ended with a result.", "{workload}：没有得到有效结果的压测。";
    still_rising: "Throughput was still rising at the highest load tried: the most that it can do was not reached.",
        "在所测的最高负载下吞吐量仍在上升，尚未测到系统上限。";
    objective: "Objective: {objective}", "目标：{objective}";
    objective_kept: "✓ kept", "✓ 达标";
    objective_broken: "not kept: {why}", "未达标：{why}";
    objective_at: "{workload} keeps {objective} up to {tps} transactions/s, at {load}.",
        "{workload}：满足 {objective} 的最高吞吐量为 {tps} TPS（{load}）。";
    objective_only: "{workload} keeps {objective} at {tps} transactions/s.",
        "{workload}：在 {tps} TPS 下满足 {objective}。";
    objective_none: "{workload} keeps {objective} at no point that was measured.", "{workload}：所有测试点均不满足 {objective}。";
    believe_all: "Nothing was found that speaks against these numbers.", "审查未发现数据可疑之处。";
    still_rising_usable: "Throughput was still rising at the highest load whose figures may be used: the most that it can do was not shown.",
        "在数据可用的最高负载下吞吐量仍在上升，系统上限尚未得到证实。";
    believe_invalid: "Not to be used: {count} of {runs} {runs|run|runs} ({rules}). Such runs are in no mean, law, comparison or sentence; where a point has no other run, its figures are marked ✗.",
        "{runs} 次压测中有 {count} 次无效，数据不可采用（{rules}），均未计入均值、拟合、对比与结论；某测试点若只有无效压测，其数据以 ✗ 标出。";
    believe_suspect: "With care: {count} of {runs} {runs|run|runs} may mislead ({rules}).", "{runs} 次压测中有 {count} 次存疑，数据需谨慎使用（{rules}）。";
    believe_note: "Worth knowing, while the numbers stand: {rules}.", "提示（不影响数据）：{rules}。";
    nothing_measured: "Nothing was measured: no run has a result.", "没有测得任何数据：没有一次压测得到结果。";
    step_failed_why: "Failed: {step}: {reason}", "失败：{step}：{reason}";
    target_missing: "{target} has no figures: {count} of {all} {all|step|steps} failed or {count|was|were} skipped: {reason}",
        "{target}没有任何数据：{all} 个步骤中有 {count} 个失败或被跳过，首个原因：{reason}";
    engine_target: "{engine} (target {target})", "{engine}（目标库 {target}）";
    just_target: "The target {target}", "目标库 {target} ";
    failed_steps: "Steps that failed or were skipped: {count}; their reasons are below.", "有 {count} 个步骤失败或被跳过，原因见下文。";
    open_steps: "The study is not over: {left} of {all} {all|step|steps} left.", "该套测试尚未全部完成：{all} 个步骤中还剩 {left} 个。";
    failed_runs: "{runs} without a result, in no figure.", "{runs}没有得到结果，未计入任何数据。";
    // The environment.
    environment: "Environment", "测试环境";
    clients: "Client hosts", "压测客户端";
    targets: "Targets", "目标库";
    target_url: "URL", "连接地址";
    hosts: "Hosts", "主机";
    runs_of: "Runs", "压测次数";
    settings: "Settings that differ from the default, and those that always matter",
        "与默认值不同的参数及重要参数";
    setting: "Setting", "参数";
    default_value: "Default", "默认值";
    no_settings: "No settings were read.", "未读取到数据库参数。";
    several_values: "Several values: the setting was changed between runs.", "有多个值表示该参数在压测之间有改动。";
    unread: "Not everything could be read", "部分信息未能采集";
    // A workload.
    threads: "Threads", "线程数";
    terminals: "Terminals", "终端数";
    rate: "Rate (/s)", "速率（/秒）";
    target: "Target", "目标库";
    server: "Server", "数据库版本";
    version: "Version", "版本";
    size: "Size", "数据规模";
    warehouses: "Warehouses", "仓库数";
    isolation: "Isolation level", "隔离级别";
    rtt: "Injected round trip", "附加往返延迟";
    study: "Study", "测试套";
    runs: "Runs", "次数";
    records: "Runs", "压测记录";
    throughput: "Transactions/s", "吞吐量（TPS）";
    mean: "Average (ms)", "平均延迟（ms）";
    p95: "p95 (ms)", "P95（ms）";
    p99: "p99 (ms)", "P99（ms）";
    errors: "Errors", "错误数";
    tpmc: "tpmC", "tpmC";
    qphh: "QphH", "QphH";
    seconds: "Seconds", "耗时（秒）";
    geometric: "Geometric mean (s)", "几何平均（秒）";
    queries: "Queries done", "完成的查询";
    finding: "Findings", "审查结论";
    load_of: "{load} {name}", "{name} {load}";
    plus_minus: "{value} ± {half}", "{value} ± {half}";
    least_to_most: "{value} ({least} … {most})", "{value}（{least} … {most}）";
    repeats_say: "Every figure is the mean of the repeats' own figures, a percentile too: it is each repeat's, and not that of all transactions together.",
        "各项数据均为多次重复各自结果的均值（百分位亦为逐次计算后取均值，而非全部事务合并计算）。";
    half_says: "± is half of the 95% confidence interval of the mean.", "± 为均值的 95% 置信区间半宽。";
    least_to_most_says: "In brackets, from the least repeat to the greatest: they differ so much that an interval of confidence would tell nothing.",
        "括号内为各次重复的最小值与最大值：重复之间相差过大，置信区间已无意义。";
    runs_of_clients: "{runs} ({repeats} × {clients} clients)", "{runs}（{repeats} 次 × {clients} 个客户端）";
    clients_say: "Runs that loaded one server at the same time are clients of one load, and one repeat: throughputs and counts are added, latencies are those of all their transactions together.",
        "同时对同一服务器加压的多次压测视为同一负载的多个客户端，只算一次重复：吞吐量与次数相加，延迟由其全部事务合并统计。";
    price: "Price/tpmC", "价格/tpmC";
    latency_open: "Latencies count from the scheduled arrival.", "延迟从计划到达时刻起算。";
    latency_due: "Latencies count from the moment a transaction was due.", "延迟从事务应发起的时刻起算。";
    types: "By transaction type", "按事务类型";
    type_name: "Type", "类型";
    count: "Count", "次数";
    by_query: "By query (seconds)", "各查询耗时（秒）";
    query: "Query", "查询";
    timed_out: "time-out", "超时";
    query_failed: "failed", "失败";
    no_result: "no result", "无结果";
    // What must not be used; the sign stands before its figures.
    mark: "✗ {text}", "✗ {text}";
    semicolon: "; ", "；";
    left_out: "✗ {count} of {all} left out: {rules}", "✗ 剔除 {count}/{all} 次：{rules}";
    mark_says: "✗ before a figure: every run of the point has a finding that says not to use it.",
        "数字前的 ✗ 表示该测试点的压测全部无效，数据不可采用。";
    left_out_says: "Runs that must not be used are in no figure of a point that has others: 2 / 3 is two of three runs.",
        "测试点另有有效压测时，无效压测不计入任何数据：“2 / 3” 表示 3 次中计入 2 次。";
    crossed: "✗ must not be used and is in no line or law: {points}.", "✗ 标出的点数据无效，不参与连线与拟合：{points}。";
    crossed_curves: "✗: must not be used, and there is nothing else.", "✗ 表示数据无效、不可采用，且没有其他有效数据。";
    law_without: "Left out, because they must not be used: {runs}.", "已剔除无效数据：{runs}。";
    panel_crossed: "✗ not to be used: {runs}", "✗ 无效：{runs}";
    // Charts.
    over_load: "Throughput over {load}", "吞吐量随{load}变化";
    over_load_says: "{series}: highest {tps} transactions/s, at {load}.", "{series}：最高 {tps} TPS（{load}）。";
    whiskers: "Upright bars: 95% confidence intervals from repeats.", "竖线为由重复得出的 95% 置信区间。";
    law_drawn: "Dashed and grey: the fitted scalability law.", "灰色虚线为拟合的通用可扩展性定律（USL）。";
    latency_over_load: "Latency over {load}", "延迟随{load}变化";
    latency_over_load_says: "{which}, logarithmic scale.", "{which}，对数坐标。";
    latency_over_throughput: "Latency over throughput", "延迟与吞吐量的关系";
    latency_over_throughput_says: "p95, logarithmic scale; the points stand in the order of {load}. Where the line turns up, more load brings latency instead of throughput.",
        "P95，对数坐标，各点按{load}从小到大相连。曲线陡升之后，再加负载只增加延迟而不增加吞吐量。";
    little: "Little's law", "利特尔定律";
    little_says: "Sessions that the figures account for (throughput × average latency) beside those that ran; on the dashed line both are the same.",
        "由吞吐量 × 平均延迟推算的并发数与实际并发数的对照，落在虚线上即两者一致。";
    little_between: "Records of an earlier version are among them, whose latencies end when the reply reaches the client's host: to them the client's own time between transactions is added.",
        "其中有早期版本的记录，其延迟只计到响应到达客户端主机为止，推算时另加了客户端在事务之间自身的耗时。";
    little_furthest: "Furthest from it: {furthest} of {users}.", "偏离最大处：{users} 个并发推算得 {furthest}。";
    little_axis: "sessions by the figures", "推算的并发数";
    asked: "asked for", "实际并发";
    series: "Series", "系列";
    distributions: "Latency by percentile", "延迟百分位曲线";
    distributions_apart: "Of each the load with its highest throughput: no load was measured of all, so the curves can't be compared.",
        "各取吞吐量最高的负载：没有共同的负载档位，曲线之间不可直接对比。";
    distributions_together: "Of several repeats, all transactions together.", "多次重复的全部事务合并统计。";
    distributions_says: "Each nine to the right is ten times rarer; logarithmic scale.", "越往右越罕见，每格相差十倍；对数坐标。";
    over_time: "Over time", "随时间变化";
    over_time_says: "Each picture is one point of the matrix: transactions/s above, p95 below, both from zero, each with its own scale; repeats are drawn over one another.",
        "每幅图对应一个测试点：上为 TPS，下为 P95 延迟，均从零起、各用各的刻度；重复的各次叠画在一起。";
    panel_tps: "{tps} tx/s ({low} … {high})", "{tps} TPS（{low} … {high}）";
    panel_p95: "p95 {low} … {high} ms", "P95 {low} … {high} ms";
    panel_says: "{label}: mean {tps} transactions/s, between {low} and {high}; p95 between {p95_low} and {p95_high} ms, over {length}.",
        "{label}：平均 {tps} TPS，在 {low}～{high} 之间；P95 在 {p95_low}～{p95_high} ms 之间，时长 {length}。";
    repeat_n: "repeat {n}", "第 {n} 次";
    shown_of: "({n} of {all})", "（{n}/{all}）";
    // Scalability.
    scalability: "Scalability", "可扩展性";
    usl_says: "Universal Scalability Law: contention {sigma}% (95% interval {sigma_low}–{sigma_high}%), coherency {kappa} ({kappa_low}–{kappa_high}), one user alone {lambda} transactions/s; it explains {r2}% of the variance.",
        "通用可扩展性定律（USL）：竞争系数 σ = {sigma}%（95% 区间 {sigma_low}–{sigma_high}%），一致性系数 κ = {kappa}（{kappa_low}–{kappa_high}），单用户吞吐量 {lambda} TPS，可解释 {r2}% 的方差。";
    usl_peak: "Its peak is at {load} {name} ({low}–{high}), with {tps} transactions/s.", "峰值出现在{name} {load}（{low}–{high}）处，约 {tps} TPS。";
    usl_knee: "The knee is at {load} {name}: beyond it users mostly wait for each other.", "{name}达到 {load} 时出现拐点，超过后主要是互相等待。";
    usl_beyond: "No peak lies in the range that was measured (up to {most} {name}); where it would be, these runs can't tell.",
        "所测范围（{name} 最高 {most}）内没有出现峰值，峰值位置无法由这些数据推断。";
    usl_unsure: "Coherency can't be told from none, so no peak is claimed.", "一致性系数与零无法区分，因此不给出峰值。";
    usl_bad_fit: "The law explains only {r2}% of the variance of these throughputs, so it is not drawn: something else limits them, or they vary too much.",
        "该定律只能解释 {r2}% 的方差，故不绘出拟合曲线：吞吐量受其他因素限制，或波动过大。";
    usl_few: "{loads} different loads: the scalability law takes four at least.", "只有 {loads} 档负载，拟合可扩展性定律至少需要 4 档。";
    usl_none: "The scalability law does not fit these throughputs.", "可扩展性定律无法拟合这些数据。";
    knee_mark: "knee {load}", "拐点 {load}";
    peak_mark: "peak {load}", "峰值 {load}";
    // One factor of two values.
    contrast: "{factor}: {a} and {b} compared", "{factor}（{a} 与 {b}）对比";
    contrast_head: "{b} beside {a}: {counts} of {all} {all|pair|pairs}.",
        "{b} 相对 {a}：共对比 {all} 组，{counts}。";
    contrast_faster: "a higher throughput in {n}", "吞吐量提高 {n} 组";
    contrast_slower: "a lower throughput in {n}", "吞吐量下降 {n} 组";
    contrast_same: "no difference shown in {n}", "未显示差异 {n} 组";
    contrast_unknown: "too little measured to tell in {n}", "数据不足无法判断 {n} 组";
    contrast_unusable: "{n} of {all} pairs can't be judged: a side has only runs that must not be used.",
        "共 {all} 组中有 {n} 组无法判断：其中一方只有无效压测。";
    contrast_left_out: "Left out of the pairs, because they must not be used: {runs}.", "对比中已剔除无效数据：{runs}。";
    contrast_none: "{b} beside {a}: nothing can be concluded. In {all} of {all} {all|pair|pairs} a side has only runs that must not be used.",
        "{b} 相对 {a}：无法得出结论，共 {all} 组，每组都有一方只有无效压测。";
    in_pairs: "{text} In {count} of {all} pairs: {pairs}.", "{text}涉及 {all} 组中的 {count} 组：{pairs}。";
    pairs_differ: "In pairs", "涉及测试点";
    every_pair: "all {all}", "全部 {all} 组";
    contrast_most: "The throughput changed by {range}.", "吞吐量变化 {range}。";
    contrast_same_ratio: "Not shown: the observed {n|ratio of|ratios of} {range} {n|is|are} within what repeats differ by.",
        "未显示差异的 {n} 组：观测到的吞吐量比值 {range} 在重复压测的波动范围内。";
    contrast_same_intervals: "Not shown: the observed {n|ratio of|ratios of} {range} {n|is|are} within what the intervals of a run differ by.",
        "未显示差异的 {n} 组：观测到的吞吐量比值 {range} 在压测内各时段的波动范围内。";
    contrast_unknown_ratio: "Too little measured: the observed {n|ratio of|ratios of} {range} {n|shows|show} nothing.",
        "数据不足的 {n} 组：观测到的吞吐量比值 {range} 不能说明问题。";
    range: "{low} to {high}", "{low} 至 {high}";
    contrast_means: "Figures of several runs are geometric means here, for a change is a ratio; the workload's table has arithmetic means, so the two may differ a little.",
        "此处多次重复的数据为几何平均（变化以比值计）；测试结果表中为算术平均，故两处可能略有出入。";
    contrast_repeats: "With 95% confidence intervals from repeats.", "95% 置信区间来自重复压测。";
    contrast_intervals: "Where a side has a single run, the 95% confidence interval is from the intervals within it: what differs from one start to the next is not in it.",
        "只有单次压测的一方，其 95% 置信区间来自压测内各时段，不含每次重跑之间的差异。";
    pair: "Pair", "测试点";
    change: "Change", "变化";
    interval: "95% interval", "95% 置信区间";
    verdict: "Verdict", "结论";
    else_differed: "What was different besides", "其他不同之处";
    nothing_else: "Nothing else that is recorded was different.", "记录中的其他条件均相同。";
    item: "What", "项目";
    // Findings, steps, commands.
    in_runs: "In {count}: {runs}.", "涉及 {count}：{runs}。";
    example: "For example {run}: {says}", "例如 {run}：{says}";
    no_findings: "The rules found nothing to say about these runs.", "各项审查规则均未发现问题。";
    failures: "Steps that failed or were skipped", "失败或跳过的步骤";
    step: "Step", "步骤";
    state: "State", "状态";
    reason: "Reason", "原因";
    step_of_load: "load", "加载";
    step_of_run: "run", "压测";
    step_failed: "failed", "失败";
    step_skipped: "skipped", "跳过";
    step_waiting: "waiting", "未执行";
    step_going_on: "going on", "执行中";
    step_done: "done", "完成";
    run_failed: "failed run", "失败的压测";
    unreadable: "unreadable record", "无法读取的记录";
    took: "took {time}", "耗时 {time}";
    repeat: "To run it again", "复现命令";
    study_command: "The whole study:", "整套测试：";
    study_file: "The study file", "测试套文件";
    each_command: "The command of each step ({count})", "各步骤命令（{count} 条）";
    passwords: "Passwords are shown as ***; put yours in.", "密码以 *** 代替，运行前请替换。";
    all_runs: "All runs ({count})", "全部压测（{count} 次）";
    id: "Run", "压测编号";
    started: "Started (UTC)", "开始时间（UTC）";
    elapsed: "Measured (s)", "测量时长（秒）";
    note: "Note", "备注";
    tags: "Tags", "标签";
    outputs: "What the commands printed", "各命令的原始输出";
    output_cut: "The first {cut} of {all} characters are left out; the store has them.", "共 {all} 个字符，前 {cut} 个已略去，完整内容见存储。";
    made_by: "Made by Tidemark {version} (document version {document}).", "由 Tidemark {version} 生成（文档格式 {document}）。";
    made_by_study: "Study {id}.", "测试套编号 {id}。";
    word_law: "Scalability law", "通用可扩展性定律";
    word_law_says: "Throughput over concurrent users, after Gunther: contention is the share of work that can't be done at the same time, coherency what each pair of users costs.",
        "Gunther 提出的吞吐量随并发变化的模型：竞争系数表示无法并行的那部分工作，一致性系数表示每两个用户之间相互协调的代价。";
    word_interval: "95% confidence interval", "95% 置信区间";
    word_interval_says: "Of a hundred such intervals, 95 hold the true value. Where those of two figures lie apart, chance hardly explains it.",
        "重复得到的 100 个这样的区间中约有 95 个包含真实值。两个区间不重叠时，差异很难用偶然解释。";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_say_the_same_values() {
        crate::texts::tests::say_the_same(BOTH);
    }
}
