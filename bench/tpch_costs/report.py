"""The tables for people."""

import statistics

from tpcc_costs.figures import judge, spread
from tpcc_costs.report import HEADS, NATIVE, load_line
from vs_sysbench.clients import TIDEMARK
from vs_sysbench.figures import MEMORY, WALL, median, ratio
from vs_sysbench.report import table

BEGIN = "<!-- tpch: written by bench/tpch --write-readme -->"
END = "<!-- end of tpch -->"
# Wall time of `prepare` over that of the server's own bulk path.
LOAD_REACH = 1.2
# Resident memory of a load at scale factor 1.
MEMORY_REACH = 64 << 20

__all__ = ["BEGIN", "END", "figures_table", "load_line"]


def figures_table(all_found, plan):
    """Every figure on every server, with what is to be reached."""
    rows = []
    for rows_of in (times, memory):
        for found in all_found:
            rows.append(rows_of(found, plan))
    return table(HEADS, rows)


def times(found, plan):
    """Wall time of `prepare` beside the server's own bulk path."""
    ours, theirs = found.loads[TIDEMARK], found.loads["native"]
    got = ratio(WALL, ours, theirs)
    return [
        f"`prepare` at scale factor {plan.scale} with primary keys alone, {plan.threads} threads",
        found.server,
        WALL.show(median(WALL, ours)),
        f"{WALL.show(median(WALL, theirs))} ({NATIVE[found.driver]})",
        str(got),
        f"≤ {LOAD_REACH}",
        judge(got.median, LOAD_REACH),
    ]


def memory(found, plan):
    """Resident memory of the same loads."""
    used = [MEMORY.of(sample) for sample in found.loads[TIDEMARK]]
    return [
        f"resident memory of `prepare` at scale factor {plan.scale}",
        found.server,
        spread(used, MEMORY.show),
        "–",
        "–",
        f"≤ {MEMORY_REACH >> 20} MiB",
        judge(statistics.median(used), MEMORY_REACH),
    ]
