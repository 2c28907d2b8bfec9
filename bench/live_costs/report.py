"""The table for people."""

import os
import statistics

from tpcc_costs.figures import judge
from vs_sysbench.report import table

BEGIN = "<!-- live: written by bench/live --write-readme -->"
END = "<!-- end of live -->"
ON, OFF = "watched and kept", "neither"
# Throughput of the first over that of the second.
REACH = 0.99
HEADS = ["server", "workload", ON, OFF, "ratio: median (lowest–highest)", "reach", ""]


def ratios(found):
    """Of each pair."""
    return [on / off for on, off in zip(found.runs[ON], found.runs[OFF], strict=True)]


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
        verdict = judge(found, most, more=False)
        rows.append([cost.server, *cells, f"{found:.2%}", f"≤ {most:.0%}", verdict])
    return table(heads, rows)


def figures_table(all_found):
    """Every workload on every server, with what is to be reached."""
    rows = []
    for found in all_found:
        of_pairs = ratios(found)
        middle = statistics.median(of_pairs)
        spread = f"{middle:.3f} ({min(of_pairs):.3f}–{max(of_pairs):.3f})"
        each = [f"{statistics.median(found.runs[what]):,.0f} queries/s" for what in (ON, OFF)]
        verdict = judge(middle, REACH, more=True)
        rows.append([found.server, f"`{found.workload}`", *each, spread, f"≥ {REACH}", verdict])
    return table(HEADS, rows)
