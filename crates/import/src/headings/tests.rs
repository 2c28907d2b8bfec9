use super::*;

#[test]
fn headings_of_both_languages_say_the_same() {
    let f = |name: &str, factor| ColumnMeaning::Figure(name.into(), factor);
    for (headings, is) in [
        (
            &["Threads", "并发数", "线程", "Sessions", "Clients"][..],
            ColumnMeaning::Option("threads"),
        ),
        (
            &[
                "TPS",
                "吞吐量",
                "Throughput (ops/s)",
                "每秒事务数",
                "transactions_per_s",
            ],
            f("rate", 1.0),
        ),
        (
            &["QPS", "每秒查询数", "statements_per_s"],
            f("statement_rate", 1.0),
        ),
        (
            &[
                "avg latency (ms)",
                "平均延迟",
                "平均响应时间（ms）",
                "Avg",
                "延迟(ms)",
            ],
            f("mean_ms", 1.0),
        ),
        (
            &[
                "95% latency (ms)",
                "P95",
                "95th (ms)",
                "TP95",
                "95线",
                "95分位延迟",
            ],
            f("p95_ms", 1.0),
        ),
        (&["p99 (us)", "99%延迟（微秒）"], f("p99_ms", 1e-3)),
        (&["P999"], f("p99.9_ms", 1.0)),
        (&["P995 (ms)", "TP995(ms)"], f("p99.5_ms", 1.0)),
        (&["p100 (ms)"], f("max_ms", 1.0)),
        (
            &["Latency (avg/.95/max)", "延迟(平均/P95/最大)"],
            ColumnMeaning::Several(vec![
                ("mean_ms".into(), 1.0),
                ("p95_ms".into(), 1.0),
                ("max_ms".into(), 1.0),
            ]),
        ),
        (
            &["Latency (0.5 / .999, us)"],
            ColumnMeaning::Several(vec![("p50_ms".into(), 1e-3), ("p99.9_ms".into(), 1e-3)]),
        ),
        (
            &["TPS (r/w)", "Throughput (requests/second)"],
            f("rate", 1.0),
        ),
        (&["Lat95", "latency_95 (ms)"], f("p95_ms", 1.0)),
        (&["Lat 64"], f("mean_ms", 1.0)),
        (&["每分钟事务数", "txn/min"], f("rate", 1.0 / 60.0)),
        (&["trx/s", "每秒交易数"], f("rate", 1.0)),
        (&["initial connection time (ms)"], f("connecting_ms", 1.0)),
        (&["err", "失败数"], f("ignored_errors", 1.0)),
        (&["avg ms", "mean_ms", "平均延遲"], f("mean_ms", 1.0)),
        (&["avg s"], f("mean_ms", 1000.0)),
        (&["max us"], f("max_ms", 1e-3)),
        (&["第 99 百分位延遲"], f("p99_ms", 1.0)),
        (&["併發數", "執行緒數"], ColumnMeaning::Option("threads")),
        (&["P12345 (ms)", "QPS (次/ms)"], ColumnMeaning::Unknown),
        (
            &["latency stddev", "标准差(ms)", "延迟标准差"],
            f("stddev_ms", 1.0),
        ),
        (
            &[
                "TPS stddev",
                "P99 标准差",
                "主从延迟(ms)",
                "replication lag (s)",
                "网络延迟(ms)",
                "RTT (ms)",
                "tpmC/warehouse",
                "QPS per node",
            ],
            ColumnMeaning::Aside,
        ),
        (
            &["耗时(s)", "用时（秒）", "v6 耗时(s)"],
            f("elapsed_s", 1.0),
        ),
        (&["平均耗时(s)"], f("mean_ms", 1000.0)),
        (&["# Samples"], f("count", 1.0)),
        (
            &[
                "最大连接数",
                "max_connections",
                "TPS/CPU",
                "vs baseline TPS",
            ],
            ColumnMeaning::Aside,
        ),
        (
            &["旧版本 TPS", "TPS (4 CPU)", "baseline TPS"],
            f("rate", 1.0),
        ),
        (&["Max latency", "最大延迟"], f("max_ms", 1.0)),
        (&["tpmC"], f("tpmc", 1.0)),
        (
            &["Warehouses", "仓库数"],
            ColumnMeaning::Option("warehouses"),
        ),
        (&["Duration (s)", "测试时间(s)"], f("elapsed_s", 1.0)),
        (&["Errors", "错误数"], f("ignored_errors", 1.0)),
        (&["错误率", "error rate"], f("error_share", 1.0)),
        (
            &["成功率", "成功率(%)", "Success rate", "success ratio (%)"],
            f("success_share", 1.0),
        ),
        (&["Workload", "测试场景", "场景"], ColumnMeaning::Label),
        (&["ＴＰＳ", "RPS"], f("rate", 1.0)),
        (&["avg, ms", "平均[ms]"], f("mean_ms", 1.0)),
        (
            &["Latency (s) avg", "avg latency [s]"],
            f("mean_ms", 1000.0),
        ),
        (&["总耗时(ms)"], f("elapsed_s", 1e-3)),
        (
            &["TPS/QPS"],
            ColumnMeaning::Several(vec![("rate".into(), 1.0), ("statement_rate".into(), 1.0)]),
        ),
        (
            &["平均/P95 (s)"],
            ColumnMeaning::Several(vec![("mean_ms".into(), 1e3), ("p95_ms".into(), 1e3)]),
        ),
        (
            &["思考时间", "Think time (s)"],
            ColumnMeaning::Option("think-time"),
        ),
        (&["target rate", "目标 TPS"], ColumnMeaning::Option("rate")),
        (&["8 threads"], ColumnMeaning::Option("threads")),
        (
            &[
                "latency_avg_us",
                "avg latency us",
                "平均延迟 us",
                "平均延迟微秒",
            ],
            f("mean_ms", 1e-3),
        ),
        (&["latency_avg_s", "平均延迟秒"], f("mean_ms", 1000.0)),
        (&["p99 us"], f("p99_ms", 1e-3)),
        (&["Update ops/s"], f("rate", 1.0)),
        (
            &["CPU", "内存", "备注", "TPS/thread", "Max IOPS", "date"],
            ColumnMeaning::Aside,
        ),
        (
            &["Throughput (tx/min)", "吞吐量（次/分钟）", "每分钟吞吐量"],
            f("rate", 1.0 / 60.0),
        ),
        (&["TPM (tx/min)", "TPM"], f("tpm", 1.0)),
        (
            &[
                "KQPS",
                "kQPS",
                "QPS (×1000)",
                "QPS (k)",
                "QPS（千）",
                "QPS ('000)",
            ],
            f("statement_rate", 1e3),
        ),
        (&["TPS（万）", "TPS (万/s)"], f("rate", 1e4)),
        (&["Throughput (/hour)", "95% read"], ColumnMeaning::Unknown),
        (
            &["Error (%)", "Errors %", "错误占比"],
            f("error_share", 1.0),
        ),
        (
            &[
                "Throughput (MB)",
                "Throughput MiB/s",
                "加载耗时(min)",
                "TPS/vCPU",
            ],
            ColumnMeaning::Aside,
        ),
        (&["总响应时间（分钟）", "耗时(min)"], f("elapsed_s", 60.0)),
        (&["Latency (min)"], f("min_ms", 1.0)),
        (&["read p95"], f("p95_ms", 1.0)),
        (&["Sum(ms)"], f("sum_ms", 1.0)),
        (&["", "requests/min"], ColumnMeaning::Unknown),
    ] {
        for heading in headings {
            assert_eq!(column(heading), is, "{heading}");
        }
    }
}

#[test]
fn headings_of_other_things_are_no_figures() {
    let f = |name: &str, factor| ColumnMeaning::Figure(name.into(), factor);
    for (headings, is) in [
        // Numbers that are no percentiles.
        (
            &[
                "Top 10",
                "Step 2",
                "Port 80",
                "4th run",
                "50% buffer pool",
                "20% 缓存",
            ][..],
            ColumnMeaning::Unknown,
        ),
        (
            &["Latency 50 threads (ms)", "Latency 50 users"],
            f("mean_ms", 1.0),
        ),
        (
            &["95%", "95% (ms)", "95th (ms)", "app p95"],
            f("p95_ms", 1.0),
        ),
        (&["90% Line"], f("p90_ms", 1.0)),
        // How sure or how far apart figures are.
        (
            &[
                "95% CI",
                "Latency 95% CI (ms)",
                "standard error",
                "Margin of error",
                "误差",
                "tps_std",
                "Latency jitter (ms)",
                "延迟抖动",
            ],
            ColumnMeaning::Aside,
        ),
        (&["Latency Std (ms)", "lat_std_ms"], f("stddev_ms", 1.0)),
        (&["Std TPS"], f("rate", 1.0)),
        // Relative figures.
        (
            &[
                "TPS (% of baseline)",
                "TPS 相比基线",
                "QPS (%)",
                "Normalized TPS",
                "CPU usage (TPS=1000)",
                "Disk throughput",
            ],
            ColumnMeaning::Aside,
        ),
        (&["TPS (50% write)"], f("rate", 1.0)),
        // A figure under a load.
        (&["P99 @ 10k QPS (ms)", "P99 at 1000 TPS"], f("p99_ms", 1.0)),
        (&["p99 latency at 500 req/s (us)"], f("p99_ms", 1e-3)),
        (&["峰值 TPS 下的平均延迟(ms)"], f("mean_ms", 1.0)),
        (&["CPU at max TPS"], ColumnMeaning::Aside),
        (&["TPS at 64 threads"], f("rate", 1.0)),
        // Rates.
        (
            &[
                "TPS (without initial connection time)",
                "tps (including connection time)",
                "TPS (replication disabled)",
                "Baseline throughput (ops/s)",
                "旧版本吞吐量",
            ],
            f("rate", 1.0),
        ),
        (
            &["Transactions/session", "fsync (ms)"],
            ColumnMeaning::Aside,
        ),
        (&["Threads/connections"], ColumnMeaning::Option("threads")),
        (&["TPS (fsync off)", "TPS (RTT 1 ms)"], f("rate", 1.0)),
        (&["req/s avg"], f("rate", 1.0)),
        (
            &["TPS (avg/min/max)", "Rows/s", "每秒写入行数"],
            ColumnMeaning::Unknown,
        ),
        // Sessions and counts.
        (
            &["innodb_thread_concurrency", "Threads_running", "线程池大小"],
            ColumnMeaning::Unknown,
        ),
        (&["Failed connections"], ColumnMeaning::Aside),
        (
            &[
                "Slow queries",
                "慢查询数",
                "重试次数",
                "死锁次数",
                "rows examined",
            ],
            ColumnMeaning::Unknown,
        ),
        (&["执行次数", "总次数"], f("count", 1.0)),
        // Latencies that are allowed, or of something else.
        (
            &[
                "Timeout (ms)",
                "SLA latency (ms)",
                "Lock wait (ms)",
                "fsync latency (ms)",
            ],
            ColumnMeaning::Aside,
        ),
        // What is wanted.
        (
            &[
                "Target P99",
                "p99_target",
                "SLO p95",
                "预期 TPS",
                "Expected TPS",
            ],
            ColumnMeaning::Aside,
        ),
        (
            &["P99 (target 20 ms)", "P99 at target load"],
            f("p99_ms", 1.0),
        ),
        (&["响应耗时(s)"], f("mean_ms", 1000.0)),
    ] {
        for heading in headings {
            assert_eq!(column(heading), is, "{heading}");
        }
    }
}
