"""The table for people."""

import math
import os
import statistics

from tpcc_costs.figures import judge
from vs_sysbench.report import table

BEGIN = "<!-- live: written by bench/live --write-readme -->"
END = "<!-- end of live -->"
ON, OFF = "watched and kept", "neither"
# Throughput of the first over that of the second.
REACH = 0.99
HEADS = [
    "server", "workload", ON, OFF, "ratio: median (lowest–highest)", "median, 95%", "reach", "",
]
CONFIDENCE = 0.95


def ratios(found):
    """Of each pair."""
    return [on / off for on, off in zip(found.runs[ON], found.runs[OFF], strict=True)]


def median_interval(values):
    """Between which of the values the median of all pairs that there could be lies, with 95%
    confidence: order statistics, which say nothing of how pairs are spread but that they don't
    depend on each other. None of too few pairs."""
    number, sorted_values = len(values), sorted(values)
    outside, below = -1, 0.0
    for heads in range(number):
        below += math.comb(number, heads) / 2**number
        if below > (1 - CONFIDENCE) / 2:
            break
        outside = heads
    if outside < 0:
        return None
    return sorted_values[outside], sorted_values[number - 1 - outside]


def pair_line(found):
    """The last pair in one line."""
    on, off = found.runs[ON][-1], found.runs[OFF][-1]
    last = ratios(found)[-1]
    return f"{found.workload}: {ON} {on:,.0f}/s | {OFF} {off:,.0f}/s | ratio {last:.3f}"


def part(cost):
    """Of the time of all processors, what watching and keeping takes."""
    on, off = (statistics.median(cost.cpu_s[what]) for what in (ON, OFF))
    return (on - off) / cost.seconds / (os.cpu_count() or 1)


def cost_line(cost):
    """In one line."""
    on, off = (statistics.median(cost.cpu_s[what]) for what in (ON, OFF))
    return f"processor time: {ON} {on:.3f} s | {OFF} {off:.3f} s | {part(cost):.2%} of all"


def costs_table(costs):
    """What it takes of the processors, and at most may, for throughput to stay within reach."""
    heads = ["server", ON, OFF, "more, of all processors", "reach", ""]
    most, rows = 1 - REACH, []
    for cost in costs:
        cells = []
        for what in (ON, OFF):
            all_s = cost.cpu_s[what]
            spread = f"{min(all_s):.3f}–{max(all_s):.3f}"
            cells.append(f"{statistics.median(all_s):.3f} s ({spread})")
        found = part(cost)
        word = judge(found, most, more=False)
        rows.append([cost.server, *cells, f"{found:.2%}", f"≤ {most:.0%}", word])
    return table(heads, rows)


def _figure(of_pairs):
    """The cells that tell what came of pairs."""
    middle, interval = statistics.median(of_pairs), median_interval(of_pairs)
    return [
        f"{middle:.3f} ({min(of_pairs):.3f}–{max(of_pairs):.3f})",
        "–" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}",
        f"≥ {REACH}",
        judge(middle, REACH, more=True),
    ]


def figures_table(all_found):
    """Every workload on every server, and all pairs together, with what is to be reached."""
    rows = []
    for found in all_found:
        each = [f"{statistics.median(found.runs[what]):,.0f} queries/s" for what in (ON, OFF)]
        rows.append([found.server, f"`{found.workload}`", *each, *_figure(ratios(found))])
    if len(all_found) > 1:
        of_all = [ratio for found in all_found for ratio in ratios(found)]
        rows.append(["all pairs", "", "", "", *_figure(of_all)])
    return table(HEADS, rows)
