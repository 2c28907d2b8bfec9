"""The tables for people: what each client cost, and the ratios with what is to be reached."""

from .clients import BARE, ONE_TABLE, PGBENCH, SYSBENCH, TIDEMARK
from .errors import BenchError
from .figures import (
    CPU,
    LOAD_FIGURES,
    LOAD_REACHES,
    MEMORY,
    RUN_FIGURES,
    RUN_REACHES,
    THROUGHPUT,
    USER,
    median,
    ratio,
    verdict,
)

BEGIN = "<!-- vs-sysbench: written by bench/vs-sysbench --write-readme -->"
END = "<!-- end of vs-sysbench -->"
ORDER = (TIDEMARK, SYSBENCH, ONE_TABLE, PGBENCH, BARE)


def pair_line(samples):
    """One round of runs in one line."""
    parts = []
    for client in ORDER:
        if client in samples:
            s = samples[client]
            parts.append(
                f"{client} {s.cpu_us:.1f} µs ({s.user_us:.1f} user), "
                f"{MEMORY.show(s.max_rss_bytes)}, {s.per_second:,.0f} q/s"
            )
    return " | ".join(parts)


def load_line(samples):
    """One pair of loads in one line."""
    return " | ".join(
        f"{client} {s.wall_s:.2f} s, CPU {s.cpu_s:.2f} s, {MEMORY.show(s.max_rss_bytes)}"
        for client, s in samples.items()
    )


def costs_table(by_sessions):
    """What each client cost: medians of its runs. `by_sessions`: sessions -> client -> samples."""
    rows = []
    for sessions, by_client in by_sessions.items():
        for client in ORDER:
            if client in by_client:
                runs = by_client[client]
                rows.append(
                    [str(sessions), client]
                    + [f.show(median(f, runs)) for f in (CPU, USER, MEMORY, THROUGHPUT)]
                )
    return table(["sessions", "client"] + [f.name for f in RUN_FIGURES], rows)


def ratios_table(by_sessions, against):
    """Tidemark's figures over another client's, beside what is to be reached."""
    ours = ONE_TABLE if against == PGBENCH else TIDEMARK
    rows = []
    for sessions, by_client in by_sessions.items():
        for figure in RUN_FIGURES:
            found = ratio(figure, by_client[ours], by_client[against])
            reach = RUN_REACHES.get(sessions, {}).get(figure)
            rows.append([str(sessions), figure.name, str(found), *verdict(figure, found, reach)])
    heads = ["sessions", f"{ours} / {against}", "median (lowest–highest)", "reach", ""]
    return table(heads, rows)


def load_table(by_client):
    """The same for loading."""
    rows = []
    for figure in LOAD_FIGURES:
        ours, theirs = by_client[TIDEMARK], by_client[SYSBENCH]
        found = ratio(figure, ours, theirs)
        rows.append(
            [
                figure.name,
                figure.show(median(figure, ours)),
                figure.show(median(figure, theirs)),
                str(found),
                *verdict(figure, found, LOAD_REACHES.get(figure)),
            ]
        )
    heads = ["", TIDEMARK, SYSBENCH, "ratio: median (lowest–highest)", "reach", ""]
    return table(heads, rows)


def table(heads, rows):
    """A Markdown table, padded so that it reads as text."""
    widths = [max(3, *(len(row[i]) for row in [heads, *rows])) for i in range(len(heads))]
    lines = [heads, ["-" * w for w in widths], *rows]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(line, widths)) + " |" for line in lines
    )


def replace_block(text, block, begin_mark=BEGIN, end_mark=END):
    """The text with what stands between the markers replaced."""
    before, begin, rest = text.partition(begin_mark)
    _, end, after = rest.partition(end_mark)
    if not begin or not end:
        raise BenchError(f"the README lacks the markers {begin_mark} and {end_mark}")
    return f"{before}{begin}\n{block.strip()}\n{end}{after}"
