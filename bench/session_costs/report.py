"""The tables for people."""

from vs_sysbench.clients import BARE, TIDEMARK
from vs_sysbench.figures import CPU, MEMORY, THROUGHPUT, median, ratio
from vs_sysbench.report import table

from .figures import BARE_REACH, RECORDING_REACH, SYSBENCH_REACH, better_of, judge
from .parse import RECORDER

BEGIN = "<!-- sessions: written by bench/sessions --write-readme -->"
END = "<!-- end of sessions -->"
PREPARED, TEXT = "sysbench, prepared", "sysbench, as text"
REACH = ["reach", ""]


def mib(of_bytes):
    """Memory for people: median (lowest–highest)."""
    low, high = (f"{value / (1 << 20):,.1f}" for value in (of_bytes.low, of_bytes.high))
    return f"{MEMORY.show(of_bytes.median)} ({low}–{high})"


def crowd_line(crowd):
    """The last run in one line."""
    run = crowd.runs[-1]
    return (
        f"{crowd.terminals:,} on {crowd.sessions:,} sessions, {crowd.server}: "
        f"{MEMORY.show(run.sample.max_rss_bytes)}, {run.said.per_second:,.0f} q/s, "
        f"{run.said.errors} errors, {run.said.reconnects} reconnects"
    )


def crowds_table(crowds):
    """Memory, throughput and errors with very many sessions or terminals."""
    heads = ["server", "terminals", "sessions", "resident memory", *REACH]
    heads += ["throughput", "client CPU per query", "queries of a session", "errors", "reconnects"]
    rows = []
    for crowd in crowds:
        said = crowd.runs[-1].said
        reach = "–" if crowd.reach is None else f"≤ {crowd.reach >> 20} MiB"
        rows.append(
            [
                crowd.server,
                f"{crowd.terminals:,}",
                f"{crowd.sessions:,}",
                mib(crowd.memory),
                reach,
                judge(crowd.memory.median, crowd.reach),
                THROUGHPUT.show(crowd.median(THROUGHPUT)),
                CPU.show(crowd.median(CPU)),
                f"{said.events_mean:,.1f} ± {said.events_stddev:,.1f}",
                str(crowd.total("errors")),
                str(crowd.total("reconnects")),
            ]
        )
    return table(heads, rows)


def pair_line(server, sessions, samples):
    """One round of runs in one line."""
    parts = [f"{client} {CPU.show(CPU.of(s))}" for client, s in samples.items()]
    return f"{server}, {sessions:,} sessions: {' | '.join(parts)}"


def against_bare(found):
    """`found`: (server, sessions, client -> samples)."""
    rows = []
    for server, sessions, runs in found:
        rows.append(
            [
                server,
                f"{sessions:,}",
                CPU.show(median(CPU, runs[TIDEMARK])),
                CPU.show(median(CPU, runs[BARE])),
                *_ratio(runs[TIDEMARK], runs[BARE], BARE_REACH.get(sessions)),
                _rates(runs[TIDEMARK], runs[BARE]),
            ]
        )
    heads = ["server", "sessions", TIDEMARK, BARE, "ratio: median (lowest–highest)", *REACH]
    return table([*heads, "throughput, ratio"], rows)


def against_sysbench(found):
    """The same beside sysbench, which is asked in both ways that it has."""
    rows = []
    for server, sessions, runs in found:
        best = better_of(runs[PREPARED], runs[TEXT])
        rows.append(
            [
                server,
                f"{sessions:,}",
                *(CPU.show(median(CPU, runs[name])) for name in (TIDEMARK, PREPARED, TEXT)),
                *_ratio(runs[TIDEMARK], best, SYSBENCH_REACH.get(sessions)),
                _rates(runs[TIDEMARK], best),
                " / ".join(
                    MEMORY.show(median(MEMORY, samples)) for samples in (runs[TIDEMARK], best)
                ),
            ]
        )
    heads = ["server", "sessions", TIDEMARK, PREPARED, TEXT]
    heads += ["Tidemark / the better: median (lowest–highest)", *REACH]
    return table([*heads, "throughput, ratio", "resident memory"], rows)


def _ratio(ours, theirs, reach):
    found = ratio(CPU, ours, theirs)
    if found is None:
        return ["–", "–", "too small to say"]
    return [str(found), "–" if reach is None else f"≤ {reach}", judge(found.median, reach)]


def _rates(ours, theirs):
    return str(ratio(THROUGHPUT, ours, theirs))


def recording_table(costs):
    """What one latency costs; the reach is the engine's."""
    rows = []
    for cost in costs:
        reach = RECORDING_REACH if cost.name == RECORDER else None
        rows.append(
            [
                cost.name,
                f"{cost.median:.1f} ns ({cost.low:.1f}–{cost.high:.1f})",
                "–" if reach is None else f"≤ {reach} ns",
                judge(cost.median, reach),
            ]
        )
    return table(["step", "median (lowest–highest)", *REACH], rows)
