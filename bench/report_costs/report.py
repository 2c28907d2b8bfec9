"""The table for people."""

import statistics

from tpcc_costs.figures import judge
from vs_sysbench.report import table

BEGIN = "<!-- report: written by bench/report --write-readme -->"
END = "<!-- end of report -->"
HEADS = ["", "median (lowest–highest)", "reach", ""]
SECONDS, MEBIBYTES, MEGABYTES = 2.0, 200.0, 3.0


def figures_table(found):
    """Each figure with what is to be reached."""
    rows = []
    for name, values, unit, digits, reach in (
        ("time", [p.wall_s for p in found.pages], "s", 2, SECONDS),
        ("memory", [p.max_rss_bytes / 2**20 for p in found.pages], "MiB", 0, MEBIBYTES),
        ("page", [p.page_bytes / 1e6 for p in found.pages], "MB", 2, MEGABYTES),
    ):
        middle = statistics.median(values)
        shown = (f"{middle:.{digits}f} {unit} "
                 f"({min(values):.{digits}f}–{max(values):.{digits}f})")
        rows.append([name, shown, f"≤ {reach:.0f} {unit}", judge(middle, reach)])
    return table(HEADS, rows)
