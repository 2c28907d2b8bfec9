"""What a record must say for nothing to be lost and nothing to count twice."""

import math
import statistics

# 97.5% of Student's t by degrees of freedom; beyond them that of the normal distribution.
T = [0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13,
     2.12, 2.11, 2.10, 2.09]


def counts(record):
    """Transactions of the whole, of its clients, and of its intervals."""
    intervals = sum(stats["count"] for one in record["intervals"] if one["phase"] == "measure"
                    for stats in one["types"].values())
    clients = sum(one["all"]["count"] for one in record["clients"])
    return record["totals"]["all"]["count"], clients, intervals


def complaint(record, state, lost):
    """Why a record is not what it must be; nothing of one that is."""
    whole, clients, intervals = counts(record)
    if not whole == clients == intervals:
        return f"{whole} in all, {clients} of the clients, {intervals} of the intervals"
    if record["state"] != state:
        return f"it ended as {record['state']}, not as {state}"
    gone = [one["name"] for one in record["clients"] if one["state"] in ("lost", "failed")]
    if gone != lost:
        return f"lost are {gone}, not {lost}"
    starts = [one["start_ms"] for one in record["intervals"]]
    if starts != sorted(set(starts)):
        return "intervals stand twice, or out of order"
    return None


def skew(record, ahead_ms=None):
    """Milliseconds between the first client's start and the last one's; the largest stated error of a
    clock; whether each clock's true offset, by name where it is anything, is within it."""
    clients = record["clients"]
    late = [one["start_late_ms"] for one in clients]
    errors = [one["clock_error_ms"] for one in clients]
    true = ahead_ms or {}
    within = all(abs(one["clock_offset_ms"] - true.get(one["name"], 0.0)) <= one["clock_error_ms"]
                 for one in clients)
    return max(late) - min(late), max(errors), within


def ratio_interval(ratios):
    """The geometric mean of ratios with its 95% interval."""
    logs = [math.log(one) for one in ratios]
    middle = statistics.fmean(logs)
    if len(logs) < 2:
        return math.exp(middle), None
    t = T[len(logs) - 1] if len(logs) <= len(T) else 1.96
    half = t * statistics.stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), (math.exp(middle - half), math.exp(middle + half))
