"""The table for people."""

from tpcc_costs.figures import judge
from vs_sysbench.clients import BARE, TIDEMARK
from vs_sysbench.figures import CPU, USER, median, ratio
from vs_sysbench.report import table

BEGIN = "<!-- ycsb: written by bench/ycsb --write-readme -->"
END = "<!-- end of ycsb -->"
# Client CPU per operation over the bare loop's. For orientation: go-ycsb takes about three times.
REACH = 1.35
HEADS = ["server", TIDEMARK, BARE, "ratio: median (lowest–highest)", "reach", ""]


def shown(runs):
    """Client CPU per operation, and its part in user space."""
    return f"{CPU.show(median(CPU, runs))} ({USER.show(median(USER, runs))})"


def pair_line(found):
    """The last pair in one line."""
    parts = []
    for who, runs in found.runs.items():
        parts.append(f"{who} {shown(runs[-1:])}, {runs[-1].per_second:,.0f}/s")
    return f"{found.server}, CPU per operation (of it in user space): {' | '.join(parts)}"


def figures_table(all_found):
    """The figure on every server, with what is to be reached."""
    rows = []
    for found in all_found:
        ours, theirs = found.runs[TIDEMARK], found.runs[BARE]
        got = ratio(CPU, ours, theirs)
        verdict = judge(got.median, REACH)
        rows.append([found.server, shown(ours), shown(theirs), str(got), f"≤ {REACH}", verdict])
    return table(HEADS, rows)
