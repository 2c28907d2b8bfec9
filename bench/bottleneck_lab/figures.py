"""What is right and what is wrong, of runs as they are kept."""

import collections
import dataclasses

from .causes import BY_NAME

NOTHING = "no diagnosis"
NOT_SEEN = "not-enough-seen"
# What a run with nothing made may say of itself.
HONEST = ("server-cpu", "offered-load", NOT_SEEN)
CONFIDENT = "high"
GUESSED = "low"
# Parts of the latency are within this of what was measured.
SUM_PART = 0.1
REACH_SINGLE, REACH_CAUSE, REACH_PAIR, REACH_CLASS = 0.95, 0.8, 0.8, 0.8


def findings(outcome):
    """The causes that a run's diagnosis names, the first one first."""
    found = (outcome["diagnosis"] or {}).get("findings") or []
    return [finding["cause"] for finding in found]


def first(outcome):
    """The cause that it names first."""
    told = outcome["diagnosis"] or {}
    return told.get("verdict") or next(iter(findings(outcome)), NOTHING)


def names(outcome, cause):
    """Whether any finding names a cause."""
    return any(found in cause.called for found in [first(outcome), *findings(outcome)])


def names_firmly(outcome, cause):
    """Whether a finding of more than low confidence names a cause."""
    found = (outcome["diagnosis"] or {}).get("findings") or []
    return any(finding["cause"] in cause.called and finding.get("confidence") != GUESSED
               for finding in found)


def causes_of(outcome):
    """The causes that were made."""
    return [BY_NAME[name] for name in outcome["causes"]]


def right(outcome):
    """Whether the first finding is a cause that was made."""
    return any(first(outcome) in cause.called for cause in causes_of(outcome))


def exactly_right(outcome):
    """Whether the first finding is the name that a cause has before all others."""
    return any(first(outcome) == cause.called[0] for cause in causes_of(outcome))


def ran(outcome):
    """Whether there was a run, whatever the cause did to it."""
    return not outcome["error"]


def confident_and_wrong(outcome):
    """The findings that are sure of what is not so: also of runs in which a cause took no hold."""
    true = set(HONEST if outcome["kind"] == "healthy" else (NOT_SEEN,))
    for cause in causes_of(outcome):
        true.update(cause.called, cause.true_too)
    true.update(outcome.get("true_too") or ())
    found = (outcome["diagnosis"] or {}).get("findings") or []
    return [finding["cause"] for finding in found
            if finding.get("confidence") == CONFIDENT and finding["cause"] not in true]


def false_alarms(outcome):
    """What a run with nothing made says without being asked."""
    told = {first(outcome), *findings(outcome)} - {NOTHING}
    return sorted(told - set(HONEST))


@dataclasses.dataclass(frozen=True)
class Sum:
    """Parts of a type's latency against its mean."""

    parts: float
    unexplained: float
    # What they came to before they were made to add up, and unexplained was put beside them.
    measured: float | None = None

    @property
    def near(self):
        """Whether they add up."""
        return abs(self.parts - 1) <= SUM_PART


def sums(outcome):
    """Of each transaction type: what its parts come to, and how much of that nobody explains, as
    shares of its mean."""
    for kind in (outcome["diagnosis"] or {}).get("parts") or []:
        mean = kind["mean_ms"]
        if mean > 0:
            parts = [(part["part"], part["ms"]) for part in kind["parts"]]
            unexplained = sum(ms for part, ms in parts if part == "unexplained")
            measured = kind.get("measured_ms")
            yield Sum(sum(ms for _, ms in parts) / mean, unexplained / mean,
                      None if measured is None or kind.get("type") else measured / mean)


def matrix(outcomes):
    """cause made -> first finding -> runs, of the runs in which it took hold."""
    found = collections.defaultdict(collections.Counter)
    for outcome in outcomes:
        if outcome["made"]:
            found[outcome["name"]][first(outcome)] += 1
    return found


#: What experiments can tell apart.
CLASSES = ("client", "distance", "sessions", "contention", "log", "cache", "cpu")


def by_experiments(outcome):
    """Whether experiments were asked, and not the run: older runs tell it by their answer alone."""
    return outcome.get("asked") == "experiments" or outcome["experiments"] is not None


def classes_of(outcome):
    """The classes of what was made."""
    return {name for cause in causes_of(outcome) for name in cause.classes}


def has_class(outcome):
    """Whether experiments can tell its class: nothing that they vary is a stop of the server."""
    return any(cause.classes for cause in causes_of(outcome))


def class_found(outcome):
    """The class that experiments alone found."""
    return (outcome["experiments"] or {}).get("class") or NOTHING


def class_right(outcome):
    """Whether it is the cause's."""
    return any(class_found(outcome) in cause.classes for cause in causes_of(outcome))
