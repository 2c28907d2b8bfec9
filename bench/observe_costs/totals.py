"""What was sampled over one run, beside what the server and the kernel counted in the same time."""

import dataclasses
import json
import os
import pathlib
import time

from vs_sysbench import target
from vs_sysbench.errors import BenchError

# Sessions are looked at ten times a second, processes once: so far apart the sums may be.
REACH = 0.05
# Totals of fewer seconds than these are not compared.
LEAST_S = 0.5
# PostgreSQL's sessions tell of what they did at most so late.
SETTLED_S = 1
PICOSECONDS = 1e12
# Versions since which PostgreSQL counts the time of sessions.
COUNTS_TIMES = 140_000
CPU = ("process.cpu-user", "process.cpu-system", "process.cpu-observing")

# A task that lives as long as the server, or as its cache of threads.
TASKS = {
    "pgsql": ["SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'"],
    "mysql": [
        "SELECT TID FROM information_schema.PROCESSLIST WHERE ID = CONNECTION_ID()",
        "SELECT THREAD_OS_ID FROM performance_schema.threads "
        "WHERE PROCESSLIST_ID = CONNECTION_ID()",
    ],
}
STATEMENTS = (
    "SELECT COALESCE(SUM(SUM_TIMER_WAIT), 0) "
    "FROM performance_schema.events_statements_summary_global_by_event_name "
    "WHERE EVENT_NAME LIKE 'statement/%'"
)
WAITS = (
    "SELECT CONCAT(EVENT_NAME, ' ', SUM_TIMER_WAIT) "
    "FROM performance_schema.events_waits_summary_global_by_event_name "
    "WHERE COUNT_STAR > 0 AND EVENT_NAME LIKE 'wait/%'"
)
TIMES = (
    "SELECT active_time || ' ' || idle_in_transaction_time FROM pg_stat_database "
    "WHERE datname = current_database()"
)


@dataclasses.dataclass(frozen=True)
class Compared:
    """Two figures of the same thing; `apart` is of the second, `of_whole` of that of which both are a
    share, where there is one. Without a total, `why` says so."""

    server: str
    of: str
    sampled: float | None = None
    total: float | None = None
    unit: str = "s"
    apart: float | None = None
    of_whole: float | None = None
    why: str = ""

    @property
    def judged(self):
        """What the reach is for: shares are held against the whole."""
        return self.apart if self.of_whole is None else self.of_whole


@dataclasses.dataclass
class Totals:
    """What a server counted until now, in seconds; what it does not count is None."""

    cpu: float
    active: float | None = None
    in_transaction: float | None = None
    waits: dict | None = None


def ticks(stat):
    """Seconds of a process, with those of children that it waited for (proc_pid_stat(5))."""
    numbers = stat.rpartition(")")[2].split()
    return sum(int(number) for number in numbers[11:15]) / os.sysconf("SC_CLK_TCK")


def cpu_of(root, proc=pathlib.Path("/proc")):
    """Seconds of a server's process and its children."""
    children = pathlib.Path(proc, str(root), "task", str(root), "children").read_text().split()
    total = ticks(pathlib.Path(proc, str(root), "stat").read_text())
    for child in children:
        try:
            total += ticks(pathlib.Path(proc, child, "stat").read_text())
        except OSError:
            # It has ended, and is in its parent's total next time.
            continue
    return total


def process_of(task, driver, proc=pathlib.Path("/proc")):
    """The process that a task of the server belongs to, or is a child of."""
    lines = pathlib.Path(proc, str(task), "status").read_text().splitlines()
    said = dict(line.split(":", 1) for line in lines if ":" in line)
    return int(said["PPid" if driver == "pgsql" else "Tgid"])


class Counted:
    """A server's own totals."""

    def __init__(self, clients):
        self.driver = clients.target.driver
        self.ask = lambda sql: target.query(clients.target, clients.secrets, sql)
        self.root = self._root()
        self.counts = self._counts()

    def _root(self):
        for sql in TASKS[self.driver]:
            try:
                return process_of(int(self.ask(sql)[0]), self.driver)
            except (BenchError, OSError, IndexError, ValueError, KeyError):
                continue
        raise BenchError("the server's process is not found on this host")

    def _counts(self):
        """Whether it counts the time of sessions."""
        if self.driver == "pgsql":
            return int(self.ask("SHOW server_version_num")[0]) >= COUNTS_TIMES
        return self.ask("SELECT @@performance_schema")[0] == "1"

    def now(self):
        """The totals."""
        totals = Totals(cpu_of(self.root))
        if not self.counts:
            return totals
        if self.driver == "pgsql":
            times = [float(ms) / 1000 for ms in self.ask(TIMES)[0].split()]
            totals.active, totals.in_transaction = times
            return totals
        totals.active = float(self.ask(STATEMENTS)[0]) / PICOSECONDS
        lines = (line.rsplit(" ", 1) for line in self.ask(WAITS))
        totals.waits = {name: float(sum_) / PICOSECONDS for name, sum_ in lines}
        return totals


def sums(db, source, name):
    """[(labels, mean over all of the source's samples)] of the series of a name. One that was first
    seen late was nothing before."""
    samples = db.execute(
        "SELECT max(n) FROM (SELECT sum(points) AS n FROM series WHERE source = ? "
        "GROUP BY name, labels)",
        (source,),
    ).fetchone()[0]
    rows = db.execute(
        "SELECT labels, sum(mean * points) FROM series WHERE source = ? AND name = ? "
        "GROUP BY labels",
        (source, name),
    )
    return [(json.loads(labels), total / samples) for labels, total in rows]


def compare(server, before, after, db, seconds):
    """Everything that both tell of a run of so many seconds."""
    cores = [mean for name in CPU for _, mean in sums(db, "server-process", name)]
    all_found = [_times(server, "CPU of its processes", sum(cores) * seconds,
                        after.cpu - before.cpu)]
    sessions = sums(db, "server-activity", "sessions")
    whole = seconds * sum(mean for _, mean in sessions)
    for of, state, total in (
        ("time of sessions at work", "active", _grown(before.active, after.active)),
        ("time idle in a transaction", "idle-in-transaction",
         _grown(before.in_transaction, after.in_transaction)),
    ):
        sampled = sum(mean for labels, mean in sessions if labels["state"] == state) * seconds
        if total is not None:
            all_found.append(_times(server, of, sampled, total, whole))
    if after.active is None:
        all_found.append(Compared(server, "time of sessions", why="the server does not count it"))
    if after.waits:
        waits = sums(db, "server-statements", "waits.time")
        sampled = {f"wait/{labels['event']}": mean for labels, mean in waits}
        grown = {name: s - before.waits.get(name, 0.0) for name, s in after.waits.items()}
        all_found.append(_shares(server, sampled, grown))
    return all_found


def _grown(before, after):
    return None if before is None or after is None else after - before


def _times(server, of, sampled, total, whole=None):
    if total < LEAST_S:
        return Compared(server, of, sampled, total, why=f"less than {LEAST_S} s")
    of_whole = abs(sampled - total) / whole if whole else None
    return Compared(server, of, sampled, total, apart=abs(sampled / total - 1), of_whole=of_whole)


def _shares(server, sampled, total):
    """The event whose share of all waits that were sampled differs most."""
    total = {name: max(total.get(name, 0.0), 0.0) for name in sampled}
    if not sum(sampled.values()) or sum(total.values()) < LEAST_S:
        return Compared(server, "share of waits", why=f"less than {LEAST_S} s")
    parts = {name: (sampled[name] / sum(sampled.values()), total[name] / sum(total.values()))
             for name in sampled}
    name, (share, of_all) = max(parts.items(), key=lambda item: abs(item[1][0] - item[1][1]))
    of = f"share of waits that differs most: `{name}`"
    return Compared(server, of, share, of_all, unit="%", apart=abs(share - of_all))


def settle():
    """Waits until sessions that ended have told what they did."""
    time.sleep(SETTLED_S)
