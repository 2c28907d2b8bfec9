"""What runs with very many sessions, and the recording benchmark, print."""

import dataclasses
import re

from vs_sysbench import parse
from vs_sysbench.errors import BenchError

IGNORED = re.compile(r"^ *ignored errors: +(\d+)", re.MULTILINE)
RECONNECTS = re.compile(r"^ *reconnects: +(\d+)", re.MULTILINE)
# "    events (avg/stddev):           25.3328/0.47"
EVENTS = re.compile(r"^ *events \(avg/stddev\): +([\d.]+)/([\d.]+)", re.MULTILINE)
# "Recorder::record       44.8 ns   (36.6–122.1, 3 runs)"
RECORDED = re.compile(r"^(\S.*?) +([\d.]+) ns +\(([\d.]+)–([\d.]+), (\d+) runs\)$", re.MULTILINE)
# Lock, counters and histogram: all that the engine does for one transaction.
RECORDER = "Recorder::record"


@dataclasses.dataclass(frozen=True)
class Said:
    """A run as the client tells it."""

    queries: int
    per_second: float
    # Errors that were counted and retried, and sessions lost and opened anew.
    errors: int
    reconnects: int
    # Transactions of a session: mean and standard deviation.
    events_mean: float
    events_stddev: float


def summary(text):
    """sysbench's summary, as Tidemark prints it too."""
    queries, per_second = parse.sysbench(text)
    found = [pattern.findall(text) for pattern in (IGNORED, RECONNECTS, EVENTS)]
    if [len(each) for each in found] != [1, 1, 1]:
        raise BenchError("errors, reconnects or events of a session are not in the output once")
    (errors,), (reconnects,), ((mean, stddev),) = found
    return Said(queries, per_second, int(errors), int(reconnects), float(mean), float(stddev))


@dataclasses.dataclass(frozen=True)
class Cost:
    """What one step of recording costs in nanoseconds."""

    name: str
    median: float
    low: float
    high: float


def recording(text):
    """The lines of bench/recording."""
    costs = [
        Cost(name, float(median), float(low), float(high))
        for name, median, low, high, _ in RECORDED.findall(text)
    ]
    if [cost.name for cost in costs].count(RECORDER) != 1:
        raise BenchError(f"bench/recording's output has not one line '{RECORDER}'")
    return costs
