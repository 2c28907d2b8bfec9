"""What the clients print about a run: queries done, and queries per second."""

import json
import re

from .errors import BenchError
from .figures import Latency

# "    queries:                             184469 (61439.29 per sec.)"
SYSBENCH_QUERIES = re.compile(r"^ *queries: +(\d+) *\(([\d.]+) per sec\.\)", re.MULTILINE)
# "    transactions:                        9221   (3071.15 per sec.)"
SYSBENCH_TRANSACTIONS = re.compile(
    r"^ *transactions: +(\d+) *\(([\d.]+) per sec\.\)", re.MULTILINE
)
# "         avg:                                    1.42"
SYSBENCH_MEAN = re.compile(r"^ *avg: +([\d.]+)$", re.MULTILINE)
SYSBENCH_P95 = re.compile(r"^ *95th percentile: +([\d.]+)$", re.MULTILINE)
SYSBENCH_SUM = re.compile(r"^ *sum: +([\d.]+)$", re.MULTILINE)
# "  Average                1.42 ms", in `tidemark show`.
SHOWN_RATE = re.compile(r"^ *Transactions/s +([\d,.]+)$", re.MULTILINE)
SHOWN_MEAN = re.compile(r"^ *Average +([\d,.]+) ms$", re.MULTILINE)
SHOWN_P95 = re.compile(r"^ *95th percentile +([\d,.]+) ms$", re.MULTILINE)
# "number of transactions actually processed: 117315", PostgreSQL 15 and later.
PGBENCH_TRANSACTIONS = re.compile(r"^number of transactions actually processed: (\d+)", re.MULTILINE)
PGBENCH_FAILED = re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE)
PGBENCH_TPS = re.compile(r"^tps = ([\d.]+) \(without initial connection time\)", re.MULTILINE)


def sysbench(text):
    """sysbench's summary, and Tidemark's, which is the same."""
    if "FATAL" in text:
        raise BenchError(next(line for line in text.splitlines() if "FATAL" in line))
    found = SYSBENCH_QUERIES.findall(text)
    if len(found) != 1:
        raise BenchError(f"{len(found)} lines 'queries:' in the output, not one")
    queries, per_second = found[0]
    return _some(int(queries)), float(per_second)


def latency(text, sessions):
    """The latencies of sysbench's summary. Its mean has two decimals, which is coarse at tenths of a
    millisecond: the sum over the transactions is the same with all of them."""
    done = _one(SYSBENCH_TRANSACTIONS, text, "transactions:")
    _one(SYSBENCH_MEAN, text, "avg:")
    total_ms = float(_one(SYSBENCH_SUM, text, "sum:")[1])
    p95_ms = float(_one(SYSBENCH_P95, text, "95th percentile:")[1])
    return Latency(sessions, float(done[2]), total_ms / int(done[1]), p95_ms)


def shown(text, sessions):
    """The latencies in what `tidemark show` prints, to three digits."""
    rate, mean, p95 = (
        float(_one(pattern, text, name)[1].replace(",", ""))
        for pattern, name in (
            (SHOWN_RATE, "Transactions/s"),
            (SHOWN_MEAN, "Average"),
            (SHOWN_P95, "95th percentile"),
        )
    )
    return Latency(sessions, rate, mean, p95)


def _one(pattern, text, name):
    found = pattern.search(text)
    if not found:
        raise BenchError(f"no line '{name}' in the output")
    return found


def pgbench(text):
    """pgbench -S: a transaction is one query."""
    done, tps = PGBENCH_TRANSACTIONS.search(text), PGBENCH_TPS.search(text)
    if not done or not tps:
        raise BenchError("no count of transactions in pgbench's output")
    failed = PGBENCH_FAILED.search(text)
    if failed and int(failed[1]) > 0:
        raise BenchError(f"{failed[1]} transactions of pgbench failed")
    return _some(int(done[1])), float(tps[1])


def bare_loop(text):
    """The bare loop's line of JSON."""
    try:
        said = json.loads(text)
        queries, seconds = int(said["queries"]), float(said["seconds"])
    except (ValueError, KeyError, TypeError) as error:
        raise BenchError(f"the bare loop's output is not its line of JSON: {error}") from error
    return _some(queries), queries / seconds


def _some(queries):
    if queries == 0:
        raise BenchError("not one query was done")
    return queries
