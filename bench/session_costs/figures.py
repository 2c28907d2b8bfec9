"""What is to be reached, and the arithmetic that is not vs-sysbench's."""

import dataclasses
import statistics

from vs_sysbench.figures import CPU, MEMORY, Ratio, Sample

from .parse import Said

# Largest resident memory with 10,000 sessions, and with 100,000 terminals on 200, in bytes.
SESSIONS_REACH = {10_000: 48 << 20}
TERMINALS_REACH = {(100_000, 200): 128 << 20}
# CPU per query over the bare loop's, and over sysbench's, by sessions.
BARE_REACH = {16: 1.25, 64: 1.25}
SYSBENCH_REACH = {1_000: 0.5}
# Nanoseconds for one latency.
RECORDING_REACH = 50


@dataclasses.dataclass(frozen=True)
class Run:
    """One run with very many sessions: what it took, and what it says it did."""

    sample: Sample
    said: Said


@dataclasses.dataclass(frozen=True)
class Crowd:
    """The runs of very many sessions or terminals on one server."""

    server: str
    # Terminals are sessions where each has one of its own.
    terminals: int
    sessions: int
    runs: list

    @property
    def memory(self):
        """Resident memory in bytes: median, lowest, highest."""
        return spread([MEMORY.of(run.sample) for run in self.runs])

    @property
    def reach(self):
        """The most memory it should take; None where nothing is asked."""
        if self.terminals == self.sessions:
            return SESSIONS_REACH.get(self.sessions)
        return TERMINALS_REACH.get((self.terminals, self.sessions))

    def median(self, figure):
        """The median of a figure of its samples."""
        return statistics.median(figure.of(run.sample) for run in self.runs)

    def total(self, name):
        """The sum of a count over all runs."""
        return sum(getattr(run.said, name) for run in self.runs)


def spread(values):
    """Median, lowest and highest of some runs."""
    return Ratio(statistics.median(values), min(values), max(values))


def better_of(*columns):
    """Of runs side by side in each round, the one with the least CPU per query."""
    if len({len(column) for column in columns}) != 1:
        raise ValueError("rounds need as many runs of one client as of the other")
    return [min(side_by_side, key=CPU.of) for side_by_side in zip(*columns)]


def judge(value, reach):
    """A word; a dash where nothing is asked."""
    if reach is None:
        return "–"
    return "met" if value <= reach else "missed"
