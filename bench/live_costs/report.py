"""The table for people."""

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
