"""The table for people."""

import statistics

from vs_sysbench.figures import Ratio
from vs_sysbench.report import table

from .bench import SYSBENCH, TIDEMARK

BEGIN = "<!-- host-tests: written by bench/host-tests --write-readme -->"
END = "<!-- end of host-tests -->"
HEADS = ["test", TIDEMARK, SYSBENCH, "ratio: median (lowest–highest)", "reach", ""]


def ratio_of(found):
    """Of pairs: the i-th of one was run beside the i-th of the other."""
    pairs = zip(found[TIDEMARK], found[SYSBENCH], strict=True)
    ratios = [ours / theirs for ours, theirs in pairs]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


def figures_table(all_found):
    """Every test with what is to be reached."""
    rows = []
    for case, found in all_found:
        got = ratio_of(found)
        shown = [f"{statistics.median(found[who]):,.1f} {case.unit}" for who in (TIDEMARK, SYSBENCH)]
        met = "met" if abs(got.median - 1) <= case.within else "missed"
        rows.append([case.name, *shown, str(got), f"1 ± {case.within}", met])
    return table(HEADS, rows)
