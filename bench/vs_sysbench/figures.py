"""From runs to figures: costs per query, ratios of pairs, and whether a reach is met."""

import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Latency:
    """What a client says of its latencies, and how that fits its throughput."""

    sessions: int
    # Transactions a second.
    per_second: float
    mean_ms: float
    p95_ms: float

    @property
    def accounted(self):
        """Little's law: the share of the sessions' time that its latencies account for. 1 where
        a latency is all that the session waited."""
        return self.per_second * self.mean_ms / 1000 / self.sessions


@dataclasses.dataclass(frozen=True)
class Sample:
    """One run of one client."""

    queries: int
    per_second: float
    user_s: float
    system_s: float
    max_rss_bytes: int
    wall_s: float
    # In its own output; and in Tidemark's report of the same run.
    latency: Latency | None = None
    native: Latency | None = None

    @property
    def mean_ms(self):
        """Mean latency."""
        return self.latency.mean_ms

    @property
    def p95_ms(self):
        """95th percentile of the latency."""
        return self.latency.p95_ms

    @property
    def cpu_us(self):
        """Client CPU per query in microseconds."""
        return (self.user_s + self.system_s) / self.queries * 1e6

    @property
    def user_us(self):
        """The part of it in user space."""
        return self.user_s / self.queries * 1e6

    @property
    def cpu_s(self):
        """Client CPU of the whole run in seconds."""
        return self.user_s + self.system_s


@dataclasses.dataclass(frozen=True)
class Figure:
    """A property of a sample that two clients are compared by."""

    name: str
    attribute: str
    # Shown as value / scale with this unit.
    scale: float
    unit: str
    digits: int
    # Whether less is better.
    less: bool = True

    def of(self, sample):
        """The value in a sample."""
        return getattr(sample, self.attribute)

    def show(self, value):
        """The value for people."""
        return f"{value / self.scale:,.{self.digits}f} {self.unit}"


CPU = Figure("client CPU per query", "cpu_us", 1, "µs", 1)
USER = Figure("of it in user space", "user_us", 1, "µs", 1)
MEMORY = Figure("resident memory", "max_rss_bytes", 1 << 20, "MiB", 1)
THROUGHPUT = Figure("throughput", "per_second", 1, "queries/s", 0, less=False)
RUN_FIGURES = (CPU, USER, MEMORY, THROUGHPUT)

MEAN = Figure("mean latency", "mean_ms", 1, "ms", 3)
P95 = Figure("95th percentile", "p95_ms", 1, "ms", 3)

WALL = Figure("wall time", "wall_s", 1, "s", 2)
LOAD_CPU = Figure("client CPU", "cpu_s", 1, "s", 2)
LOAD_FIGURES = (WALL, LOAD_CPU, MEMORY)

# What is to be reached by Tidemark / sysbench (or pgbench), by number of sessions.
RUN_REACHES = {
    16: {CPU: 0.85, USER: 0.50, MEMORY: 0.7, THROUGHPUT: 1.0},
    256: {CPU: 0.60, USER: 0.25, MEMORY: 0.15, THROUGHPUT: 1.0},
}
LOAD_REACHES = {WALL: 0.5}
# Throughput × mean / sessions of each run, and the median ratio of means at like throughput.
ACCOUNTED = (0.95, 1.03)
LIKE_MEANS = (0.9, 1.1)
# Throughputs so near to each other are alike.
LIKE_THROUGHPUT = 0.1
# Percentiles that differ by more are told with the reason; parts of it below this are not.
TOLD = 0.1
SMALL = 0.02
# sysbench's histogram has buckets of this width, and its output two decimals.
BUCKET = 0.018
DECIMAL_MS = 0.01


@dataclasses.dataclass(frozen=True)
class Ratio:
    """The ratio of a figure in several pairs of runs."""

    median: float
    low: float
    high: float

    def __str__(self):
        return f"{self.median:.3f} ({self.low:.3f}–{self.high:.3f})"


def ratio(figure, ours, theirs):
    """The ratios of pairs: the i-th of `ours` was run beside the i-th of `theirs`."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError("ratios need as many runs of one client as of the other")
    # A user part of zero is too small for the clock: no ratio can be given.
    pairs = [(figure.of(a), figure.of(b)) for a, b in zip(ours, theirs)]
    if any(b == 0 for _, b in pairs):
        return None
    ratios = [a / b for a, b in pairs]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios))


def median(figure, samples):
    """The median of a figure over runs."""
    return statistics.median(figure.of(s) for s in samples)


def verdict(figure, found, reach):
    """The reach and `met` or `missed`; two dashes where there is none."""
    if reach is None:
        return "–", "–"
    if found is None:
        return f"{'≤' if figure.less else '≥'} {reach}", "too small to say"
    met = found.median <= reach if figure.less else found.median >= reach
    return f"{'≤' if figure.less else '≥'} {reach}", "met" if met else "missed"


def alike(ours, theirs):
    """The pairs of runs whose throughput lies within `LIKE_THROUGHPUT` of each other, as two
    lists."""
    near = [
        (a, b)
        for a, b in zip(ours, theirs)
        if abs(a.per_second / b.per_second - 1) <= LIKE_THROUGHPUT
    ]
    return [a for a, _ in near], [b for _, b in near]


def within(value, bounds):
    """`met` or `missed`."""
    return "met" if bounds[0] <= value <= bounds[1] else "missed"


@dataclasses.dataclass(frozen=True)
class Parts:
    """What the ratio of two clients' percentiles is made of: in each pair it is the product of the
    three, for mean = accounted × sessions / throughput (Little's law)."""

    # Time between two transactions of all sessions together: 1 / throughput.
    pace: Ratio
    accounted: Ratio
    # Percentile / mean.
    form: Ratio


def parts(ours, theirs):
    """The parts of the ratio of 95th percentiles."""

    def of(value):
        ratios = [value(a.latency) / value(b.latency) for a, b in zip(ours, theirs)]
        return Ratio(statistics.median(ratios), min(ratios), max(ratios))

    return Parts(of(lambda told: 1 / told.per_second), of(lambda told: told.accounted), of(form))


def form(latency):
    """The percentile in means."""
    return latency.p95_ms / latency.mean_ms


def resolution(ours, theirs):
    """The least difference between two percentiles that sysbench's output shows for certain."""
    least = min(s.p95_ms for s in [*ours, *theirs])
    return BUCKET + DECIMAL_MS / least if least > 0 else float("inf")


def why_p95(ours, theirs, normal=None):
    """Why the 95th percentiles of Tidemark's and sysbench's runs differ, in sentences, by figures of
    the same runs alone; none where they do not. `normal`: runs of Tidemark with --scheduling=normal
    beside them."""
    found = ratio(P95, ours, theirs)
    if found is None or abs(found.median - 1) <= TOLD:
        return []
    told = [f"Tidemark's 95th percentile is {found} of sysbench's."]
    if found.low <= 1 <= found.high:
        return [*told, "Pairs lie on both sides of 1: it is within the spread of pairs."]
    finest = resolution(ours, theirs)
    if abs(found.median - 1) <= finest:
        return [*told, f"sysbench's output cannot tell less than {finest:.0%} apart there (buckets "
                       f"of {BUCKET:.1%}, two decimals)."]
    made = parts(ours, theirs)
    if abs(made.pace.median - 1) > SMALL:
        cores = [statistics.median(s.cpu_s / s.wall_s for s in runs) for runs in (ours, theirs)]
        told.append(
            f"Throughput is {1 / made.pace.median:.3f} of sysbench's, which by itself gives "
            f"{made.pace.median:.3f} (Little's law); the clients used {cores[0]:.2f} and "
            f"{cores[1]:.2f} CPUs."
        )
    if abs(made.accounted.median - 1) > SMALL:
        shares = [statistics.median(s.latency.accounted for s in runs) for runs in (ours, theirs)]
        told.append(
            f"Latencies account for {shares[0]:.3f} of the sessions' time, sysbench's for "
            f"{shares[1]:.3f}, which gives {made.accounted.median:.3f}."
        )
    return [*told, _why_form(made.form, ours, theirs, normal)]


def _why_form(found, ours, theirs, normal):
    """What the form of the distributions has to do with it."""
    forms = [statistics.median(form(s.latency) for s in runs) for runs in (ours, theirs)]
    says = f"Percentile / mean is {forms[0]:.2f}, sysbench's {forms[1]:.2f}, which gives {found}"
    if abs(found.median - 1) <= TOLD:
        return f"{says}: within {TOLD:.0%}."
    if found.low <= 1 <= found.high:
        return f"{says}: within the spread of pairs."
    if not normal:
        return f"{says}: not explained (--normal shows whether the scheduling class is the reason)."
    with_normal = parts(normal, theirs).form
    if abs(with_normal.median - 1) <= TOLD:
        return f"{says}: the scheduling class, for --scheduling=normal gives {with_normal}."
    return f"{says}: not explained, for --scheduling=normal gives {with_normal}."
