"""The tables for people."""

import statistics

from live_costs.report import median_interval
from tpcc_costs.figures import judge
from vs_sysbench.report import table

BEGIN = "<!-- observe: written by bench/observe --write-readme -->"
END = "<!-- end of observe -->"
ON, OFF = "everything observed", "nothing"
# Throughput of the first over that of the second, and what the interval's lower bound keeps.
REACH, LEAST = 0.98, 0.96
# Of one core.
MOST_CPU = 0.01
# Of ten minutes.
MOST_BYTES, OF_SECONDS = 1_500_000, 600


def ratios(found):
    """Of each pair."""
    return [on / off for on, off in zip(found.runs[ON], found.runs[OFF], strict=True)]


def pair_line(found):
    """The last pair in one line."""
    on, off = found.runs[ON][-1], found.runs[OFF][-1]
    return f"{found.workload}: {ON} {on:,.0f}/s | {OFF} {off:,.0f}/s | ratio {on / off:.3f}"


def figures_table(all_found):
    """Every workload on every server, with what is to be reached."""
    heads = ["server", "workload", ON, OFF, "ratio: median (lowest–highest)", "median, 95%",
             "reach", ""]
    rows = []
    for found in all_found:
        of_pairs = ratios(found)
        middle, interval = statistics.median(of_pairs), median_interval(of_pairs)
        word = judge(middle, REACH, more=True)
        if interval is not None and interval[0] < LEAST:
            word = judge(interval[0], LEAST, more=True)
        each = [f"{statistics.median(found.runs[what]):,.0f}/s" for what in (ON, OFF)]
        rows.append([
            found.server, f"`{found.workload}`", *each,
            f"{middle:.3f} ({min(of_pairs):.3f}–{max(of_pairs):.3f})",
            "–" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}",
            f"≥ {REACH}, from {LEAST}", word,
        ])
    return table(heads, rows)


def cost_line(cost):
    """In one line."""
    return (
        f"observing {cost.seconds} s: client {cost.client_cores:.2%} of a core | "
        f"server {cost.server_cores:.2%} | {cost.series} series, {cost.series_bytes:,} bytes | "
        f"record {cost.record_bytes:,} bytes"
    )


def costs_table(costs):
    """What observing takes, with what it at most may; a record's size as if it had ten minutes."""
    heads = ["server", "of", "found", "reach", ""]
    rows = []
    for cost in costs:
        for of, cores in (("client CPU", cost.client_cores), ("server CPU", cost.server_cores)):
            word = judge(cores, MOST_CPU, more=False)
            rows.append([cost.server, of, f"{cores:.2%} of a core", f"≤ {MOST_CPU:.0%}", word])
        size = cost.record_bytes * OF_SECONDS / cost.seconds
        word = judge(size, MOST_BYTES, more=False)
        rows.append([
            cost.server, "record of ten minutes",
            f"{size / 1e6:.2f} MB ({cost.series} series, {cost.series_bytes / 1e6:.2f} MB in "
            f"the store for {cost.seconds} s)",
            f"≤ {MOST_BYTES / 1e6} MB", word,
        ])
    return table(heads, rows)
