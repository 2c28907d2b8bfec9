"""The tables for people."""

from vs_sysbench.report import table

from .figures import HELD_LATE_NS, LATE_NS, PERCENTS, STALL_PART, held, in_time

BEGIN = "<!-- accuracy: written by bench/accuracy --write-readme -->"
END = "<!-- end of accuracy -->"
NAMES = {"mysql": "MySQL", "postgres": "PostgreSQL"}


def time(ns):
    """A time for people."""
    for unit, scale in (("s", 1e9), ("ms", 1e6)):
        if abs(ns) >= scale:
            return f"{ns / scale:.3f} {unit}"
    return f"{ns / 1e3:.0f} µs"


def signed(ns):
    """A difference for people."""
    return ("+" if ns >= 0 else "−") + time(abs(ns))


def verdict(met):
    """A word."""
    return "met" if met else "missed"


def accuracy_table(results):
    """`results`: (distribution, protocol, run, differences)."""
    heads = ["delay", "protocol", "a second"]
    heads += [head for p in PERCENTS for head in (f"p{p:g}", "off by")] + ["client's share", ""]
    rows = []
    for delay, protocol, run, found in results:
        cells = [f"`{delay}`", NAMES[protocol], f"{run.per_second:,.0f}"]
        for difference in found:
            mark = "" if difference.near else " (!)"
            cells += [time(difference.truth_ns), signed(difference.off_ns) + mark]
        share = run.service.mean_ns - run.server.mean_ns
        rows.append([*cells, signed(share), verdict(all(d.near for d in found))])
    return table(heads, rows)


def lateness_table(results):
    """`results`: (rate, protocol, run, what is to be reached: lateness or held); without a protocol,
    how late threads are that only sleep."""
    heads = ["requested", "protocol", "done", "late: p50", "p99", "max", "reach", ""]
    rows = []
    for rate, protocol, run, hold in results:
        if protocol is None:
            late = [time(run[key]) for key in ("p50_ns", "p99_ns", "max_ns")]
            rows.append([f"{rate:,}/s", "only sleeping", "–", *late, "–", "–"])
            continue
        cells = [f"{rate:,}/s", NAMES[protocol], f"{run.per_second:,.0f}/s"]
        late = run.lateness
        if late is None:
            cells += ["not recorded"] * 3
        else:
            cells += [time(late.percentile_ns(50)), time(late.percentile_ns(99)), time(late.max_ns)]
        if hold:
            cells += [f"held, p99 ≤ {time(HELD_LATE_NS)}", verdict(held(run, rate))]
        else:
            cells += [f"p99 ≤ {time(LATE_NS)}", verdict(in_time(run, LATE_NS))]
        rows.append(cells)
    return table(heads, rows)


def stall_table(results):
    """`results`: (protocol, stall, run)."""
    heads = ["protocol", "", "by the stall", "response time", "service time", "reach", ""]
    rows = []
    for protocol, stall, run in results:
        for percent in (95.0, 99.0, 99.9):
            expected = stall.response_s(percent)
            if expected is None:
                continue
            got = run.response.percentile_ns(percent)
            rows.append(
                [
                    NAMES[protocol],
                    f"p{percent:g}",
                    time(expected * 1e9),
                    time(got),
                    time(run.service.percentile_ns(percent)),
                    f"± {time(STALL_PART * stall.length_s * 1e9)}",
                    verdict(stall.seen(percent, got)),
                ]
            )
        longest = run.response.max_ns
        # The first arrival in the stall comes a mean gap after its start, give or take.
        met = longest >= stall.length_s * 1e9 * (1 - STALL_PART)
        cells = [time(stall.length_s * 1e9), time(longest), time(run.service.max_ns)]
        rows.append([NAMES[protocol], "max", *cells, "the whole stall", verdict(met)])
    return table(heads, rows)
