"""The tables for people: what each client cost, and the ratios with what is to be reached."""

from .clients import BARE, BEFORE, NORMAL, ONE_TABLE, PGBENCH, SYSBENCH, TIDEMARK, TIDEMARKS
from .errors import BenchError
from .figures import (
    ACCOUNTED,
    CPU,
    LIKE_MEANS,
    LOAD_FIGURES,
    LOAD_REACHES,
    MEAN,
    MEMORY,
    P95,
    RUN_FIGURES,
    RUN_REACHES,
    THROUGHPUT,
    USER,
    alike,
    median,
    ratio,
    verdict,
    why_p95,
    within,
)

BEGIN = "<!-- vs-sysbench: written by bench/vs-sysbench --write-readme -->"
END = "<!-- end of vs-sysbench -->"
ORDER = (TIDEMARK, BEFORE, NORMAL, SYSBENCH, ONE_TABLE, PGBENCH, BARE)


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


def ratios_table(by_sessions, ours, against):
    """One client's figures over another's; over another tool's, beside what is to be reached."""
    rows = []
    for sessions, by_client in by_sessions.items():
        for figure in RUN_FIGURES:
            found = ratio(figure, by_client[ours], by_client[against])
            asked = {} if against in TIDEMARKS else RUN_REACHES.get(sessions, {})
            reach = asked.get(figure)
            rows.append([str(sessions), figure.name, str(found), *verdict(figure, found, reach)])
    heads = ["sessions", f"{ours} / {against}", "median (lowest–highest)", "reach", ""]
    return table(heads, rows)


def latency_table(by_sessions):
    """Little's law for every client that tells latencies: throughput × mean / sessions, lowest and
    highest of the runs, in its output and in Tidemark's own report; then mean and percentile."""
    rows = []
    for sessions, by_client in by_sessions.items():
        for client in (TIDEMARK, SYSBENCH):
            runs = by_client[client]
            told = [[s.latency.accounted for s in runs]]
            told += [[s.native.accounted for s in runs]] if client == TIDEMARK else []
            reach = within(min(map(min, told)), ACCOUNTED), within(max(map(max, told)), ACCOUNTED)
            spans = [f"{min(values):.3f}–{max(values):.3f}" for values in told]
            rows.append(
                [str(sessions), client, spans[0], spans[1] if len(spans) > 1 else "–"]
                + [f.show(median(f, runs)) for f in (MEAN, P95)]
                + ["–" if client != TIDEMARK else "met" if reach == ("met", "met") else "missed"]
            )
    heads = ["sessions", "client", "throughput × mean / sessions", "the same in `tidemark show`",
             MEAN.name, P95.name, f"reach {ACCOUNTED[0]}–{ACCOUNTED[1]}"]
    return table(heads, rows)


def like_table(by_sessions):
    """Tidemark's mean and percentile over sysbench's, in the pairs with like throughput."""
    rows = []
    for sessions, by_client in by_sessions.items():
        ours, theirs = alike(by_client[TIDEMARK], by_client[SYSBENCH])
        if not ours:
            rows.append([str(sessions), "0", "–", "–", "–"])
            continue
        means = ratio(MEAN, ours, theirs)
        rows.append([str(sessions), str(len(ours)), str(means), str(ratio(P95, ours, theirs)),
                     within(means.median, LIKE_MEANS)])
    heads = ["sessions", "pairs with like throughput", "ratio of means: median (lowest–highest)",
             "ratio of 95th percentiles", f"reach {LIKE_MEANS[0]}–{LIKE_MEANS[1]}"]
    return table(heads, rows)


def p95_reasons(by_sessions):
    """Why Tidemark's 95th percentile differs from sysbench's, where it does; a line for each number of
    sessions, or nothing."""
    lines = []
    for sessions, by_client in by_sessions.items():
        why = why_p95(by_client[TIDEMARK], by_client[SYSBENCH], by_client.get(NORMAL))
        if why:
            lines.append(f"- {sessions} sessions: {' '.join(why)}")
    return "\n".join(lines)


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
