"""What is to be reached, and the arithmetic that is not vs-sysbench's."""

import dataclasses
import math
import statistics

from vs_sysbench.figures import Sample

# Wall time of `prepare` over that of the server's own bulk path.
LOAD_REACH = 1.2
# Seconds for each warehouse, all conditions together.
CHECK_REACH_S = 10
# Client CPU per statement over the bare loop's.
STATEMENT_REACH = 1.4
# Statements of a New-Order of so many lines, begin and commit included.
LINES = 10
NEW_ORDER_REACH = 20
# Half of what go-tpc takes from its host for one transaction, in microseconds, measured once
# elsewhere on two cores: 510 on PostgreSQL, 800 on MariaDB; BenchBase took 900.
TRANSACTION_REACH_US = {"pgsql": 510 / 2, "mysql": 800 / 2}
# Resident memory with so many terminals on so many sessions.
TERMINALS_REACH = {(10_000, 200): 128 << 20}
EFFICIENCY_REACH = 97
# New-Orders a minute that a warehouse's ten terminals make when replies take no time (clauses
# 4.1 and 5.2.5.7).
MOST_PER_WAREHOUSE = 12.86


@dataclasses.dataclass(frozen=True)
class Mix:
    """One run: what it took, and what its record says."""

    sample: Sample
    transactions: int
    new_orders: int
    elapsed_s: float
    errors: int

    @property
    def statements_each(self):
        """Statements of a transaction."""
        return self.sample.queries / self.transactions

    @property
    def transaction_us(self):
        """Client CPU per transaction in microseconds."""
        return self.sample.cpu_s / self.transactions * 1e6

    @property
    def tpmc(self):
        """New-Orders a minute."""
        return self.new_orders / self.elapsed_s * 60


@dataclasses.dataclass(frozen=True)
class Efficiency:
    """tpmC in percent of the most that the terminals' waits allow, of several runs together."""

    percent: float
    # Standard error of it.
    error: float
    runs: list


def efficiency(runs, warehouses):
    """All runs taken as one. Terminals choose at random what they do next, so that the number of
    New-Orders is itself random: its variance is taken for its mean, which is a little too much."""
    orders = sum(run.new_orders for run in runs)
    minutes = sum(run.elapsed_s for run in runs) / 60
    most = MOST_PER_WAREHOUSE * warehouses

    def percent(count):
        return 100 * count / minutes / most

    return Efficiency(
        percent(orders),
        percent(math.sqrt(orders)),
        [100 * run.tpmc / most for run in runs],
    )


def spread(values, show):
    """Median (lowest–highest) for people."""
    low, high = min(values), max(values)
    if len(values) == 1:
        return show(low)
    return f"{show(statistics.median(values))} ({show(low)}–{show(high)})"


def judge(value, reach, more=False):
    """A word; a dash where nothing is asked."""
    if reach is None:
        return "–"
    return "met" if (value >= reach if more else value <= reach) else "missed"
