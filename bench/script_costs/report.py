"""The tables for people."""

from tpcc_costs.figures import judge
from vs_sysbench.clients import SYSBENCH, TIDEMARK
from vs_sysbench.figures import CPU, THROUGHPUT, ratio
from vs_sysbench.report import table

BEGIN = "<!-- scripts: written by bench/scripts --write-readme -->"
END = "<!-- end of scripts -->"
# Client CPU per query over sysbench's, by number of sessions.
REACHES = {16: 0.8, 256: 0.5}
# Of one script thread with its session.
MEMORY_REACH_KIB = 100
HEADS = ["server", "sessions", TIDEMARK, SYSBENCH, "ratio: median (lowest–highest)", "reach", ""]


def pair_line(server, sessions, runs):
    """The last pair in one line."""
    parts = []
    for who, samples in runs.items():
        last = samples[-1]
        parts.append(f"{who} {CPU.show(last.cpu_us)}, {THROUGHPUT.show(last.per_second)}")
    return f"{server}, {sessions} sessions: {' | '.join(parts)}"


def cpu_table(all_found):
    """Client CPU per query beside sysbench's, with what is to be reached."""
    rows = []
    for found in all_found:
        for sessions, runs in found.pairs.items():
            ours, theirs = runs[TIDEMARK], runs[SYSBENCH]
            got = ratio(CPU, ours, theirs)
            reach = REACHES.get(sessions)
            asked = ["–", "–"] if reach is None else [f"≤ {reach}", judge(got.median, reach)]
            middle = [CPU.show(sorted(s.cpu_us for s in side)[len(side) // 2])
                      for side in (ours, theirs)]
            rows.append([found.server, str(sessions), *middle, str(got), *asked])
    return table(HEADS, rows)


def per_thread_kib(memory):
    """Memory of one script thread with its session: the slope between two numbers of them."""
    (few, small), (many, large) = sorted(memory.items())
    return (large - small) / (many - few) / 1024


def memory_table(all_found):
    """Memory of a script's thread, and the run with very many."""
    rows = []
    for found in all_found:
        kib = per_thread_kib(found.memory)
        sizes = " and ".join(f"{n:,}" for n in sorted(found.memory))
        rows.append([found.server, f"a script's thread, from {sizes}", f"{kib:.1f} KiB",
                     f"≤ {MEMORY_REACH_KIB} KiB", judge(kib, MEMORY_REACH_KIB)])
        if found.many:
            sessions, rate, peak = found.many
            rows.append([found.server, f"{sessions:,} threads run",
                         f"{rate:,.0f} queries/s, {peak / (1 << 20):.0f} MiB", "run", "met"])
    return table(["server", "figure", "result", "reach", ""], rows)
