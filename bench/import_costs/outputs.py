"""Consistent outputs of several tools, as their manuals describe them, made from a number."""

import random

LINE = ("[ {at}s ] thds: 16 tps: {tps:.2f} qps: {qps:.2f} (r/w/o: {r:.2f}/{w:.2f}/{o:.2f}) "
        "lat (ms,95%): 20.37 err/s: 0.00 reconn/s: 0.00\n")
CLIENTS = 3


def interval(at, tps):
    """sysbench's line of one second."""
    return LINE.format(at=at, tps=tps, qps=20 * tps, r=14 * tps, w=4 * tps, o=2 * tps)


def sysbench(seed):
    """oltp_read_write of ten seconds by 16 threads."""
    chance = random.Random(seed)
    rates = [round(1000 * chance.uniform(0.95, 1.05)) for _ in range(10)]
    count = sum(rates)
    mean = round(16 * 10 * 1000 / count, 2)
    lines = "".join(interval(at + 1, tps) for at, tps in enumerate(rates))
    return (
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nRunning the test with following options:\n"
        "Number of threads: 16\nReport intermediate results every 1 second(s)\n\nThreads started!\n\n"
        f"{lines}SQL statistics:\n    queries performed:\n        read:  {14 * count}\n        write: {4 * count}\n"
        f"        other: {2 * count}\n        total: {20 * count}\n"
        f"    transactions:   {count} ({count / 10:.2f} per sec.)\n"
        f"    queries:        {20 * count} ({2 * count:.2f} per sec.)\n"
        "    ignored errors: 0      (0.00 per sec.)\n    reconnects:     0      (0.00 per sec.)\n\n"
        f"General statistics:\n    total time:             10.0000s\n    total number of events: {count}\n\n"
        f"Latency (ms):\n         min:   2.05\n         avg:   {mean:.2f}\n         max:   60.12\n"
        f"         95th percentile: 20.37\n         sum:   {mean * count:.2f}\n\n"
        f"Threads fairness:\n    events (avg/stddev):         {count / 16:.4f}/2.10\n"
        f"    execution time (avg/stddev): {mean * count / 16000:.4f}/0.00\n")


def pgbench(seed):
    """A minute of the built-in script by 16 clients, with progress."""
    chance = random.Random(seed)
    rates = [round(2100 * chance.uniform(0.97, 1.03), 1) for _ in range(6)]
    count = round(sum(rates) * 10)
    mean = 16 * 59.98 / count * 1000
    lines = "".join(
        f"progress: {10 * (at + 1)}.0 s, {tps:.1f} tps, lat {16 / tps * 1000:.3f} ms stddev 2.110, 0 failed\n"
        for at, tps in enumerate(rates))
    return (
        "pgbench (16.2)\nstarting vacuum...end.\n"
        f"{lines}transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 100\nquery mode: prepared\n"
        "number of clients: 16\nnumber of threads: 4\nmaximum number of tries: 1\nduration: 60 s\n"
        f"number of transactions actually processed: {count}\nnumber of failed transactions: 0 (0.000%)\n"
        f"latency average = {mean:.3f} ms\nlatency stddev = 2.110 ms\n"
        f"initial connection time = 21.302 ms\ntps = {count / 59.98:.6f} (without initial connection time)\n")


def go_ycsb(seed):
    """A minute of workload a by 32 threads: half reads, half updates."""
    chance = random.Random(seed)
    rate = round(30_000 * chance.uniform(0.95, 1.05))
    mean = round(32 * 0.985 / rate * 1e6)
    text = ("./bin/go-ycsb run mysql -P workloads/workloada -p recordcount=1000000 -p threadcount=32\n"
            "***************** properties *****************\n"
            '"threadcount"="32"\n"recordcount"="1000000"\n'
            "**********************************************\n")
    for seconds in range(10, 61, 10):
        if seconds == 60:
            text += "**********************************************\nRun finished, takes 1m0s\n"
        reads = rate * seconds // 2
        for name, count, us, least, most in (
                ("READ  ", reads, mean - 140, 201, 35_111),
                ("TOTAL ", rate * seconds, mean, 201, 45_111),
                ("UPDATE", rate * seconds - reads, mean + 140, 300, 45_111)):
            text += (f"{name} - Takes(s): {seconds}.0, Count: {count}, OPS: {count / seconds:.1f}, Avg(us): {us}, "
                     f"Min(us): {least}, Max(us): {most}, 50th(us): {us - 100}, 99th(us): {us + 2600}\n")
    return text


def go_tpc(seed):
    """Ten minutes of TPC-C, told every minute."""
    chance = random.Random(seed)
    rate = round(900 * chance.uniform(0.95, 1.05))
    types = [("DELIVERY", 0.09, 120), ("NEW_ORDER", 1, 70), ("ORDER_STATUS", 0.09, 20),
             ("PAYMENT", 0.96, 40), ("STOCK_LEVEL", 0.09, 30)]

    def line(kind, name, seconds, count, ms):
        return (f"[{kind}] {name} - Takes(s): {seconds}.0, Count: {count}, TPM: {count * 60 / seconds:.1f}, "
                f"Sum(ms): {count * ms}.0, Avg(ms): {ms}.0, 50th(ms): {ms * 0.9:.1f}, 90th(ms): {ms * 1.4:.1f}, "
                f"99th(ms): {ms * 1.9:.1f}\n")

    each = [(name, round(rate * share), ms) for name, share, ms in types]
    text = "".join(line("Current", name, 60, count, ms) for _ in range(10) for name, count, ms in each)
    text += "Finished\n"
    return text + "".join(line("Summary", name, 600, 10 * count, ms) for name, count, ms in each)


def benchbase(seed):
    """A minute of TPC-C by 20 terminals, as the log of BenchBase tells it."""
    chance = random.Random(seed)
    total = round(54_000 * chance.uniform(0.95, 1.05))
    seconds = 60 + chance.uniform(0.00001, 0.01)
    payment, other = round(total * 0.4308), round(total * 0.0402)
    orders = total - payment - 3 * other
    aborted = round(orders * 0.01)
    completed = total - aborted
    counts = [("NewOrder/01", orders - aborted), ("Payment/02", payment), ("OrderStatus/03", other),
              ("Delivery/04", other), ("StockLevel/05", other)]

    def line(name, count):
        return f"{'com.oltpbenchmark.benchmarks.tpcc.procedures.' + name:<80} [{count:5}] ****\n"

    return (
        "Benchmark:              TPCC {com.oltpbenchmark.benchmarks.tpcc.TPCCBenchmark}\n"
        "Isolation:              TRANSACTION_SERIALIZABLE\nScale Factor:           10.0\n"
        "Terminals:              20\n\n"
        "[INFO ] 2026-11-03 12:00:10,323 [main]  com.oltpbenchmark.ThreadBench runRateLimitedMultiPhase - "
        "PHASE START :: [Workload=TPCC] [Serial=false] [Time=60] [WarmupTime=0] [Rate=unlimited] "
        "[ActiveWorkers=20]\n"
        "[INFO ] 2026-11-03 12:01:10,424 [main]  com.oltpbenchmark.DBWorkload runWorkload - Rate limited reqs/s: "
        f"Results(state=EXIT, nanoSeconds={round(seconds * 1e9)}, measuredRequests={total}) = "
        f"{total / seconds} requests/sec (throughput), {completed / seconds} requests/sec (goodput)\n"
        f"Completed Transactions:\n{''.join(line(*one) for one in counts)}"
        f"Aborted Transactions:\n{line('NewOrder/01', aborted)}"
        "Rejected Transactions (Server Retry):\n<EMPTY>\nUnexpected SQL Errors:\n<EMPTY>\n")


def several(seed):
    """Three clients of one test, one below the other."""
    tool = (sysbench, pgbench)[seed % 2]
    blocks = (f"## client {client}\n\n```\n{tool(seed * CLIENTS + client)}```\n\n"
              for client in range(1, CLIENTS + 1))
    return "# Clients of one test\n\n" + "".join(blocks)


SHAPES = {"sysbench": sysbench, "pgbench": pgbench, "go-ycsb": go_ycsb, "go-tpc": go_tpc, "benchbase": benchbase,
          "clients": several}
