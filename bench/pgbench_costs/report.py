"""The table for people."""

from vs_sysbench.clients import PGBENCH, TIDEMARK
from vs_sysbench.figures import CPU, THROUGHPUT, median, ratio, verdict
from vs_sysbench.report import table

BEGIN = "<!-- pgbench: written by bench/pgbench --write-readme -->"
END = "<!-- end of pgbench -->"
# Client CPU per transaction and throughput over pgbench's.
REACHES = ((CPU, 0.85), (THROUGHPUT, 1.0))
HEADS = ["script", "clients", "", TIDEMARK, PGBENCH, "ratio: median (lowest–highest)", "reach", ""]


def pair_line(name, clients, runs):
    """The last pair in one line."""
    parts = []
    for who, of in runs.items():
        parts.append(f"{who} {CPU.show(CPU.of(of[-1]))}, {of[-1].per_second:,.0f}/s")
    return f"{name}, {clients} clients, CPU per transaction: {' | '.join(parts)}"


def figures_table(found):
    """Every figure with what is to be reached."""
    rows = []
    for (name, clients), runs in found.runs.items():
        ours, theirs = runs[TIDEMARK], runs[PGBENCH]
        for figure, reach in REACHES:
            got = ratio(figure, ours, theirs)
            shown = [figure.show(median(figure, r)) for r in (ours, theirs)]
            rows.append([name, str(clients), figure.name, *shown, str(got),
                         *verdict(figure, got, reach)])
    return table(HEADS, rows)
