//! Documents with outputs of other tools. We wrote them.

/// Name and text of each.
pub const DOCUMENTS: &[(&str, &str)] = &[
    (
        "sysbench",
        "$ sysbench oltp_read_write --threads=4 --rate=100 run\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\
         Number of threads: 4\nTarget transaction rate: 100/sec\n\
         [ 5s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 45.79 err/s: 0.00 reconn/s: 0.00\n\
         [ 5s ] queue length: 3, concurrency: 2\nLatency histogram (values are in milliseconds)\n\
         \x20 value  ------------- distribution ------------- count\n    1.100 |****** 12\nSQL statistics:\n\
         \x20   transactions:  500   (100.00 per sec.)\nLatency (ms):\n  avg:   39.95\n  95th percentile: 45.79\n\
         Threads fairness:\n  events (avg/stddev): 125.2500/0.50\n",
    ),
    (
        "pgbench",
        "pgbench (15.4)\nprogress: 5.0 s, 1200.5 tps, lat 1.2 ms stddev 0.3, 0 failed, lag 0.1 ms, 2 skipped\n\
         transaction type: <builtin: TPC-B (sort of)>\nnumber of clients: 4\nduration: 5 s\n\
         number of transactions actually processed: 6000\nlatency average = 1.200 ms\ntps = 1200.5 (without initial connection time)\n\
         statement latencies in milliseconds and failures:\n  0.10  0 BEGIN;\n",
    ),
    (
        "pgbench-logs",
        "0 1 5000 0 1700000000 500000\n1 1 skipped 1 1700000002 1\n0 2 serialization 0 1700000003 5 20\n\
         1700000000 10 50000 260000000 4000 6000 0 0 0 0 0 0 0 0 0\n1700000001 0 0 0 0 0\n1699999999 1 5 25 5 5\n",
    ),
    (
        "benchbase",
        "Time (seconds),Requests,Throughput (requests/second),Minimum Latency (microseconds),95th Percentile Latency (microseconds)\n\
         0,50,10.000,100,900\n5,40,8.000,100,1900\n\
         Transaction Type Index,Transaction Name,Start Time (microseconds),Latency (microseconds),Worker Id (start number),Phase Id (index in config file)\n\
         1,NewOrder,1700000000.100000,8300,0,0\n2,Payment,1700000000.200000,1300,1,0\n\
         Results(nanoSeconds=60000000000, measuredRequests=12345) = 205.75 requests/sec\n",
    ),
    (
        "go-tpc",
        "./go-tpc ch --warehouses 2 run -T 4 -t 1 \\\n  --time 1m\n\
         [Current] NEW_ORDER - Takes(s): 9.9, Count: 120, TPM: 727.3, Sum(ms): 9000, Avg(ms): 75, 99th(ms): 96\n\
         Finished: 4 OLTP workers, 1 OLAP workers\n\
         [Summary] NEW_ORDER - Takes(s): 59.9, Count: 720, TPM: 721.2, Sum(ms): 54000, Avg(ms): 75, 90th(ms): 96\n\
         [Summary] NEW_ORDER_ERR - Takes(s): 59.9, Count: 7, TPM: 7.0, Sum(ms): 540, Avg(ms): 77\n\
         tpmC: 721.2, tpmTotal: 1600.1, efficiency: 2804.0%\n[Summary] Q1     - Count: 3, Sum(ms): 900.0, Avg(ms): 300.0\n\
         QphH: 71.5\n[Summary] Q2: 1.07s\n",
    ),
    (
        "ycsb",
        "***************** properties *****************\n\"recordcount\"=\"1000\"\n\"threadcount\"=\"4\"\n\
         READ   - Takes(s): 9.9, Count: 500, OPS: 50.5, Avg(us): 800, Min(us): 100, Max(us): 4000, 99th(us): 3000\n\
         Run finished, takes 10.1s\nREAD   - Takes(s): 10.1, Count: 510, OPS: 50.5, Avg(us): 800, Min(us): 100, Max(us): 4000, 99th(us): 3000\n\
         [OVERALL], RunTime(ms), 10110\n[READ], Operations, 510\n[READ], Return=NOT_FOUND, 10\n[READ], 99thPercentileLatency(us), NaN\n",
    ),
    (
        "tables",
        "# 结果\n| 线程 | TPS | 平均延迟(ms) | P95 |\n|---|---:|---|---|\n| 64 + 64 | 1,200 + 1.1k = 2300 | - | 20 / 30 |\n\
         | 3 × 16 | 9万 | 85.0 | ~120 |\n\nthreads,tps,avg (us),备注\n8,100.5,80000,\"a,b\"\n",
    ),
    (
        "hammerdb-k6-hdr",
        "Vuser 1:5 Active Virtual Users configured\nVuser 1:Beginning rampup time of 2 minutes\n\
         Vuser 1:System achieved 12000 NOPM from 28000 PostgreSQL TPM\n>>>>> PROC: NEWORD\nCALLS: 60000 MIN: 0.4ms AVG: 1.2ms MAX: 30ms TOTAL: 72000ms\n\
         {\"metrics\": {\"iterations\": {\"count\": 10, \"rate\": 1.0}}}\n{\n  \"tps\": 5,\n[ 5s ] thds: 1 tps: 1\n\
         #[Histogram log format version 1.3]\n0.1,1.0,5.0,HISTFAAAA\n",
    ),
    (
        "document",
        "## go-tpc 64 threads\n客户端 1:\n命令：\n```\nsysbench oltp_point_select --config-file=config run\n```\n输出：\n```\n```\n\
         threads=8\nmysql-db=x\n\n## client 2\n```\n\u{1b}[32mtpmC: 1.0\u{1b}[0m\r\n```\n",
    ),
    ("byte-order-mark", "\u{feff}并发数,吞吐量\n8,1\n"),
];
