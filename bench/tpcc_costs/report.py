"""The tables for people."""

import statistics

from vs_sysbench.clients import BARE, TIDEMARK
from vs_sysbench.figures import CPU, MEMORY, USER, WALL, median, ratio
from vs_sysbench.report import table

from .figures import (
    CHECK_REACH_S,
    EFFICIENCY_REACH,
    LINES,
    LOAD_REACH,
    NEW_ORDER_REACH,
    STATEMENT_REACH,
    TERMINALS_REACH,
    TRANSACTION_REACH_US,
    judge,
    spread,
)

BEGIN = "<!-- tpcc: written by bench/tpcc --write-readme -->"
END = "<!-- end of tpcc -->"
HEADS = ["figure", "server", TIDEMARK, "beside it", "ratio: median (lowest–highest)", "reach", ""]
NATIVE = {"mysql": "mariadb client, `LOAD DATA LOCAL`", "pgsql": "psql, `\\copy`"}


def load_line(found):
    """The last pair of loads in one line."""
    parts = [f"{who} {WALL.show(runs[-1].wall_s)}" for who, runs in found.loads.items()]
    return f"{found.server}, prepare: {' | '.join(parts)}"


def check_line(found, threads):
    """The last check in one line."""
    checked = found.checks[threads][-1]
    name, seconds = checked.slowest
    return (
        f"{found.server}, check by {threads}: {checked.seconds:.2f} s, slowest {name} with "
        f"{seconds:.2f} s"
    )


def mix_line(found):
    """The last pair of runs in one line."""
    run = found.mixes[-1]
    bare = f", {BARE} {_with_user(found.bare[-1])} a query" if found.bare else ""
    return (
        f"{found.server}, mix: {_with_user(run.sample)} a statement{bare}, "
        f"{run.transaction_us:.0f} µs a transaction of {run.statements_each:.1f} statements, "
        f"{run.transactions / run.elapsed_s:,.0f} transactions/s, {run.errors} errors"
    )


def _with_user(sample):
    return f"{CPU.show(CPU.of(sample))} ({USER.show(USER.of(sample))} of it in user space)"


def new_order_line(found):
    """Statements in one line."""
    parts = [f"{how} {spread(counts, str)}" for how, counts in found.new_orders.items()]
    return f"{found.server}, statements of a New-Order: {', '.join(parts)}"


def crowd_line(found, plan):
    """The last run with very many terminals in one line."""
    run = found.crowds[-1]
    return (
        f"{found.server}, {plan.terminals:,} terminals on {plan.connections} sessions: "
        f"{MEMORY.show(run.sample.max_rss_bytes)}, "
        f"{run.transactions / run.elapsed_s:,.0f} transactions/s, {run.errors} errors"
    )


def efficiency_line(found):
    """The efficiency so far in one line."""
    runs = ", ".join(f"{percent:.1f}" for percent in found.efficiency.runs)
    return f"{found.server}, efficiency: {runs} %"


def figures_table(all_found, plan):
    """Every figure on every server, with what is to be reached."""
    rows = []
    for rows_of in (loads, checks, statements, transactions, new_orders, crowds, efficiencies):
        for found in all_found:
            rows += rows_of(found, plan)
    return table(HEADS, rows)


def loads(found, plan):
    """Wall time of `prepare` beside the server's own bulk path."""
    ours, theirs = found.loads[TIDEMARK], found.loads["native"]
    if not ours:
        return []
    got = ratio(WALL, ours, theirs)
    return [
        [
            f"`prepare` of {plan.load_warehouses} warehouses, {plan.load_threads} threads",
            found.server,
            WALL.show(median(WALL, ours)),
            f"{WALL.show(median(WALL, theirs))} ({NATIVE[found.driver]})",
            str(got),
            f"≤ {LOAD_REACH}",
            judge(got.median, LOAD_REACH),
        ]
    ]


def checks(found, plan):
    """Time of all conditions for each warehouse."""
    rows = []
    for threads, checked in found.checks.items():
        each = [check.seconds / plan.load_warehouses for check in checked]
        name, seconds = max((check.slowest for check in checked), key=lambda slow: slow[1])
        rows.append(
            [
                f"`check` of {plan.load_warehouses} warehouses by {threads} "
                f"session{'s' if threads > 1 else ''}, for each warehouse",
                found.server,
                spread(each, lambda value: f"{value:.2f} s"),
                f"slowest condition: {name}, {seconds / plan.load_warehouses:.2f} s",
                "–",
                f"≤ {CHECK_REACH_S} s",
                judge(statistics.median(each), CHECK_REACH_S),
            ]
        )
    return rows


def statements(found, plan):
    """Client CPU per statement beside the bare loop's."""
    if not found.mixes:
        return []
    ours = [run.sample for run in found.mixes]
    what = f"client CPU per statement of the mix, {plan.mix_terminals} terminals"
    rows = []
    for beside, runs in (
        (BARE, found.bare),
        (f"{BARE}, counting {found.busy_rows} rows", found.busy),
    ):
        got = ratio(CPU, ours, runs)
        rows.append(
            [
                what,
                found.server,
                f"{CPU.show(median(CPU, ours))}, {rate(ours)}",
                f"{CPU.show(median(CPU, runs))}, {rate(runs)} ({beside})",
                str(got),
                f"≤ {STATEMENT_REACH}",
                judge(got.median, STATEMENT_REACH),
            ]
        )
    return rows


def rate(runs):
    """Queries a second, as they are shown."""
    return f"{statistics.median(run.per_second for run in runs):,.0f}/s"


def transactions(found, plan):
    """Client CPU per transaction of the mix."""
    if not found.mixes:
        return []
    costs = [run.transaction_us for run in found.mixes]
    rate = statistics.median(run.transactions / run.elapsed_s for run in found.mixes)
    reach = TRANSACTION_REACH_US[found.driver]
    return [
        [
            f"client CPU per transaction of the mix, {plan.mix_terminals} terminals",
            found.server,
            spread(costs, lambda value: f"{value:.0f} µs"),
            f"{rate:,.0f} transactions/s, {sum(run.errors for run in found.mixes)} errors",
            "–",
            f"≤ {reach:.0f} µs",
            judge(statistics.median(costs), reach),
        ]
    ]


def new_orders(found, _plan):
    """Statements of a New-Order."""
    if not found.new_orders:
        return []
    batched, single = found.new_orders["batched"], found.new_orders["single"]
    return [
        [
            f"statements of a New-Order of {LINES} lines, begin and commit included",
            found.server,
            spread(batched, str),
            f"{spread(single, str)} (`--statements=single`)",
            "–",
            f"≤ {NEW_ORDER_REACH}",
            judge(max(batched), NEW_ORDER_REACH),
        ]
    ]


def crowds(found, plan):
    """Resident memory with very many terminals."""
    if not found.crowds:
        return []
    memory = [MEMORY.of(run.sample) for run in found.crowds]
    reach = TERMINALS_REACH.get((plan.terminals, plan.connections))
    rate = statistics.median(run.transactions / run.elapsed_s for run in found.crowds)
    return [
        [
            f"resident memory, {plan.terminals:,} terminals that think on {plan.connections} "
            "sessions",
            found.server,
            spread(memory, MEMORY.show),
            f"{rate:,.0f} transactions/s, {sum(run.errors for run in found.crowds)} errors",
            "–",
            "–" if reach is None else f"≤ {reach >> 20} MiB",
            judge(statistics.median(memory), reach),
        ]
    ]


def efficiencies(found, plan):
    """Efficiency with think times, of all runs together."""
    if not found.efficiency:
        return []
    got = found.efficiency
    runs = len(got.runs)
    return [
        [
            f"efficiency, {plan.warehouses} warehouses, {10 * plan.warehouses} terminals that "
            f"think, {plan.efficiency_seconds} s",
            found.server,
            f"{got.percent:.1f} % (± {got.error:.1f})",
            f"{runs} run{'s' if runs > 1 else ''}: "
            + ", ".join(f"{percent:.1f}" for percent in got.runs),
            "–",
            f"≥ {EFFICIENCY_REACH} %",
            judge(got.percent, EFFICIENCY_REACH, more=True),
        ]
    ]
