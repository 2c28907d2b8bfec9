"""How far what was measured is from the truth, and whether that is near enough."""

import dataclasses

PERCENTS = (50.0, 90.0, 99.0, 99.9)
# Off by at most this part of the truth, or by this much, whichever is larger.
NEAR_PART = 0.01
NEAR_NS = 50_000
# 99 of 100 arrivals are sent at most this late.
LATE_NS = 200_000
# A rate is held when nearly all that was asked for was done, and sent in time.
HELD_PART = 0.99
HELD_LATE_NS = 1_000_000
# A stall is seen whole when response times are where it puts them, within this part of its length:
# arrivals at random are three standard deviations away from it at most.
STALL_PART = 0.03


@dataclasses.dataclass(frozen=True)
class Difference:
    """One percentile."""

    percent: float
    truth_ns: int
    measured_ns: int

    @property
    def off_ns(self):
        """Positive when more was measured."""
        return self.measured_ns - self.truth_ns

    @property
    def allowed_ns(self):
        """What it may be off."""
        return max(self.truth_ns * NEAR_PART, NEAR_NS)

    @property
    def near(self):
        """Whether it is near enough."""
        return abs(self.off_ns) <= self.allowed_ns


def differences(truth, measured):
    """Each percentile of two histograms."""
    return [Difference(p, truth.percentile_ns(p), measured.percentile_ns(p)) for p in PERCENTS]


@dataclasses.dataclass(frozen=True)
class Stall:
    """A stall in a run with arrivals on a schedule."""

    length_s: float
    run_s: float
    # Of what can be answered a second, what arrives.
    utilisation: float = 0.0

    def response_s(self, percent):
        """The response time at a percentile: an arrival t after the stall's start waits for the
        length less t, and for the answers to those before it, t * utilisation. Those after the stall
        wait until all that has come is answered. So those that wait longer than x are
        (length - x) / (1 - utilisation) of the run's time. None where the stall does not reach."""
        part_s = (1 - percent / 100) * self.run_s
        found = self.length_s - part_s * (1 - self.utilisation)
        return found if found > 0 else None

    def seen(self, percent, measured_ns):
        """Whether the measured response time is where the stall puts it."""
        return abs(measured_ns / 1e9 - self.response_s(percent)) <= STALL_PART * self.length_s


def in_time(run, limit_ns):
    """Whether 99 of 100 arrivals were sent at most so late."""
    return run.lateness is not None and run.lateness.percentile_ns(99.0) <= limit_ns


def held(run, rate):
    """Whether a rate was held."""
    done = run.per_second >= HELD_PART * rate
    return done and run.dropped == 0 and in_time(run, HELD_LATE_NS)
