"""The tables for people."""

import statistics

from live_costs.report import median_interval
from tpcc_costs.figures import judge
from vs_sysbench.report import table

from . import totals

BEGIN = "<!-- observe: written by bench/observe --write-readme -->"
END = "<!-- end of observe -->"
ON, OFF = "everything observed", "nothing"
# Throughput of the first over that of the second, and what the interval's lower bound keeps.
REACH, LEAST = 0.98, 0.96
# Of one core.
MOST_CPU = 0.01
# Of ten minutes.
MOST_BYTES, OF_SECONDS = 1_500_000, 600


def ratios(found):
    """Of each pair."""
    return [on / off for on, off in zip(found.runs[ON], found.runs[OFF], strict=True)]


def pair_line(found):
    """The last pair in one line."""
    on, off = found.runs[ON][-1], found.runs[OFF][-1]
    return f"{found.workload}: {ON} {on:,.0f}/s | {OFF} {off:,.0f}/s | ratio {on / off:.3f}"


def figures_table(all_found):
    """Every workload on every server, with what is to be reached."""
    heads = ["server", "workload", ON, OFF, "ratio: median (lowest–highest)", "median, 95%",
             "reach", ""]
    rows = []
    for found in all_found:
        of_pairs = ratios(found)
        middle, interval = statistics.median(of_pairs), median_interval(of_pairs)
        word = judge(middle, REACH, more=True)
        if interval is not None and interval[0] < LEAST:
            word = judge(interval[0], LEAST, more=True)
        each = [f"{statistics.median(found.runs[what]):,.0f}/s" for what in (ON, OFF)]
        rows.append([
            found.server, f"`{found.workload}`", *each,
            f"{middle:.3f} ({min(of_pairs):.3f}–{max(of_pairs):.3f})",
            "–" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}",
            f"≥ {REACH}, from {LEAST}", word,
        ])
    return table(heads, rows)


def cost_line(cost):
    """In one line."""
    return (
        f"observing {cost.seconds} s: client {cost.client_cores:.2%} of a core | "
        f"server {cost.server_cores:.2%} | {cost.series} series, {cost.series_bytes:,} bytes | "
        f"record {cost.record_bytes:,} bytes"
    )


def costs_table(costs):
    """What observing takes, with what it at most may; a record's size as if it had ten minutes."""
    heads = ["server", "of", "found", "reach", ""]
    rows = []
    for cost in costs:
        for of, cores in (("client CPU", cost.client_cores), ("server CPU", cost.server_cores)):
            word = judge(cores, MOST_CPU, more=False)
            rows.append([cost.server, of, f"{cores:.2%} of a core", f"≤ {MOST_CPU:.0%}", word])
        size = ten_minutes(cost)
        word = judge(size, MOST_BYTES, more=False)
        how = "" if cost.seconds == OF_SECONDS else f", extrapolated from {cost.seconds} s"
        rows.append([
            cost.server, f"record of ten minutes{how}",
            f"{size / 1e6:.2f} MB ({cost.series} series, {cost.series_bytes / 1e6:.2f} MB in "
            f"the store for {cost.seconds} s)",
            f"≤ {MOST_BYTES / 1e6} MB", word,
        ])
    return table(heads, rows)


def of_host(share):
    """The part of all processors that observing takes."""
    return (share.client_cores + share.server_cores) / share.cores


def share_line(share):
    """In one line."""
    return (
        f"{share.workload}, as fast as it goes: observing takes {share.client_cores:.2%} of a core as the "
        f"client, {share.server_cores:.2%} in the server, {of_host(share):.2%} of the host"
    )


def shares_table(shares):
    """What observing takes of a host whose processors are full: so much less is left for the load."""
    rows = [
        [share.server, f"`{share.workload}`", f"{share.client_cores:.2%}", f"{share.server_cores:.2%}",
         f"{of_host(share):.2%} of {share.cores} cores"]
        for share in shares
    ]
    return table(["server", "workload", "client, of a core", "server, of a core", "both, of the host"], rows)


def ten_minutes(cost):
    """Bytes of the record of ten minutes. Of a shorter one only what is of the time would grow."""
    if cost.seconds == OF_SECONDS:
        return cost.record_bytes
    return cost.record_bytes + cost.growing_bytes * (OF_SECONDS / cost.seconds - 1)


# Smaller parts of a record stand together; one alone has its name.
SMALL = 0.01


def parts_table(costs):
    """What a record is made of, the largest first."""
    rows = []
    for cost in costs:
        parts = sorted(cost.parts.items(), key=lambda item: -item[1])
        large = [(part, size) for part, size in parts if size >= SMALL * cost.record_bytes]
        small = parts[len(large):]
        if len(small) > 1:
            small = [(f"{len(small)} others", sum(size for _, size in small))]
        large += small
        for part, size in large:
            share = size / cost.record_bytes
            rows.append([cost.server, part, f"{size:,}", f"{share:.1%}"])
    return table(["server", "part", "bytes", "of the record"], rows)


def _figures(one):
    def said(value):
        if value is None:
            return "–"
        return f"{value:.1%}" if one.unit == "%" else f"{value:,.2f} {one.unit}"

    return said(one.sampled), said(one.total)


def compared_line(one):
    """In one line."""
    sampled, total = _figures(one)
    apart = one.why if one.apart is None else f"apart {one.apart:.1%}"
    return f"{one.of}: sampled {sampled} | total {total} | {apart}"


def compared_table(compared):
    """What was sampled beside totals, and how far apart they may be."""
    rows = []
    for one in compared:
        sampled, total = _figures(one)
        apart = one.why if one.apart is None else f"{one.apart:.1%}"
        whole = "–" if one.of_whole is None else f"{one.of_whole:.1%}"
        word = "–" if one.judged is None else judge(one.judged, totals.REACH)
        rows.append([one.server, one.of, sampled, total, apart, whole, f"≤ {totals.REACH:.0%}", word])
    names = ["server", "of", "sampled", "total", "apart", "of all session time", "reach", ""]
    return table(names, rows)
