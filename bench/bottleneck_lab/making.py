"""How each cause is made, and what proves that it holds."""

import contextlib
import dataclasses
import os
import statistics
import time

from .background import HeldLock, Session, Waits
from .limits import CpuLimit, Spinners, Stops, read_rate
from .proxy import Distance
from .runs import Load

STOP_EVERY_S = 2.0
# A host is full from this share of its processors on, as the diagnosis has it.
CPU_FULL = 0.85


@dataclasses.dataclass
class Lab:
    """What a cause is made with: one server, the client, the disk, programs."""

    server: object
    client: object
    slow_disk: object
    #: The proxy's program.
    distance: object
    load: Load
    seconds: int
    #: Transactions a second without the cause.
    capacity: float


@dataclasses.dataclass
class Run:
    """What can be said of a run when it has ended."""

    measured: object
    baseline: object
    before: dict
    after: dict

    def grew(self, *names):
        """How much a counter of the server grew; the first of these that it has."""
        for name in names:
            if name in self.after:
                return self.after[name] - self.before.get(name, 0)
        return 0.0

    def per_transaction(self, *names):
        """The same for each transaction."""
        return self.grew(*names) / max(1, self.measured.count)


class Made:
    """A cause while it is made: how a run differs, what proves it, and which other ids were true of
    this run as well."""

    def __init__(self, prove=None, port=None, group=None, load=None, true_too=None):
        self.prove = prove or (lambda run: (True, ""))
        self.port, self.group, self.load = port, group, load
        self.true_too = true_too or (lambda: ())


@contextlib.contextmanager
def as_asked(_):
    """The load itself, or the server's settings, are the cause."""
    yield Made()


def far_away(each_way_ms):
    """A proxy between client and server."""

    @contextlib.contextmanager
    def make(lab):
        with Distance(lab.distance, lab.server.address(), each_way_ms) as proxy:
            least = 2 * each_way_ms

            def prove(run):
                said = f"fastest transaction {run.measured.least_ms:.2f} ms"
                return run.measured.least_ms >= least, f"{said}, of {least} ms a round trip"

            yield Made(prove, port=proxy.port)

    return make


def client_limited(cores):
    """A CPU quota of the client; where there are no control groups, it can't be limited from its
    first moment, and `client.group` is none."""

    @contextlib.contextmanager
    def make(lab):
        limit = CpuLimit(cores)
        with limit.of(lambda: lab.client.pids()):
            def prove(_):
                return limit.throttled() >= 10, f"client throttled {limit.throttled()} times"

            yield Made(prove, group=limit.group)

    return make


def server_limited(cores):
    """A CPU quota of the server's processes."""

    @contextlib.contextmanager
    def make(lab):
        limit = CpuLimit(cores)
        with limit.of(lab.server.pids):
            def prove(_):
                return limit.throttled() >= 10, f"server throttled {limit.throttled()} times"

            yield Made(prove)

    return make


def neighbour(for_each_processor):
    """Programs that spin on the processors."""

    @contextlib.contextmanager
    def make(_):
        with Spinners(for_each_processor * len(os.sched_getaffinity(0))) as spinners:
            def prove(run):
                cores = spinners.cpu_seconds() / max(0.1, run.measured.elapsed_s)
                return cores >= 0.5, f"spinning on {cores:.1f} cores"

            yield Made(prove)

    return make


def flush_slowed(flush_ms):
    """Every flush takes longer."""

    @contextlib.contextmanager
    def make(lab):
        before = lab.slow_disk.counted()["flushes"]

        def prove(run):
            flushes = lab.slow_disk.counted()["flushes"] - before
            held = flushes * flush_ms >= 200 * run.measured.elapsed_s
            return held, f"{flushes / run.measured.elapsed_s:.0f} flushes/s of {flush_ms} ms more"

        with lab.slow_disk.slowed(flush_ns=flush_ms * 1e6):
            yield Made(prove)

    return make


def pages_read(lab):
    """What proves that pages come from the disk."""
    before = lab.slow_disk.counted()["reads"]

    def prove(run):
        reads = (lab.slow_disk.counted()["reads"] - before) / max(1, run.measured.count)
        return reads >= 0.2, f"{reads:.2f} pages read a transaction"

    return prove


def uncached(read_ms):
    """Pages that the server does not keep are read from a disk that takes so long, not from the page
    cache."""

    @contextlib.contextmanager
    def make(lab):
        prove = pages_read(lab)
        with lab.slow_disk.slowed(uncached=1, read_ns=read_ms * 1e6):
            yield Made(prove)

    return make


def few_reads(per_second):
    """A disk of so many reads a second."""

    @contextlib.contextmanager
    def make(lab):
        with lab.slow_disk.slowed(uncached=1), \
                read_rate(lab.server.pids, lab.server.folder, per_second) as disk:
            # One read of the disk may bring several pages, which the control group knows.
            reads = disk.reads if disk else lambda: lab.slow_disk.counted()["reads"]
            before, since = reads(), time.monotonic()

            def prove(_):
                rate = (reads() - before) / (time.monotonic() - since)
                near = 0.4 * per_second <= rate <= 1.2 * per_second
                return near, f"{rate:.0f} reads/s of {per_second} allowed"

            with lab.slow_disk.slowed(slot_ns=0 if disk else 1e9 / per_second):
                yield Made(prove)

    return make


@contextlib.contextmanager
def hot(lab):
    """The load is the cause; sessions that wait for a row lock are counted."""
    with Waits(lab.server, "row-lock") as waits:
        yield Made(lambda _: (waits.mean() >= 2, f"{waits.mean():.1f} sessions wait for row locks"))


def lock_held(held_s, free_s):
    """Another session locks the table now and then."""

    @contextlib.contextmanager
    def make(lab):
        with HeldLock(lab.server, lab.load.tables.database, held_s, free_s) as lock:
            yield Made(lambda _: (lock.rounds >= 3, f"locked {lock.rounds} times {held_s:g} s"))

    return make


def stopped(length_s):
    """The server stands still now and then. What limits between its stops is the host's CPU, if that is
    full then; beside a slow disk or a distance it is not."""

    @contextlib.contextmanager
    def make(lab):
        with Stops(lab.server.pids, STOP_EVERY_S, length_s) as stops:
            def busy():
                return statistics.median(stops.busy) if stops.busy else 0.0

            def prove(run):
                longest = run.measured.most_ms
                said = f"stopped {stops.count} times {length_s:g} s, slowest transaction " \
                    f"{longest:.0f} ms, {busy():.0%} of the CPU busy between"
                return stops.count >= 2 and longest >= 900 * length_s, said

            def true_too():
                return ("server-cpu",) if busy() >= CPU_FULL else ()

            yield Made(prove, true_too=true_too)

    return make


@contextlib.contextmanager
def index_dropped(lab):
    """The index on k is gone; it comes back."""
    tables = lab.load.tables
    name = "k_1"
    on = " ON sbtest1" if lab.server.driver == "mysql" else ""
    lab.server.sql(f"DROP INDEX {name}{on}", tables.database)
    try:
        def prove(run):
            rows = run.per_transaction("handler_read_rnd_next", "rows_scanned")
            return rows >= tables.rows / 2, f"{rows:,.0f} rows read a transaction"

        yield Made(prove)
    finally:
        lab.server.sql(f"CREATE INDEX {name} ON sbtest1 (k)", tables.database)


@contextlib.contextmanager
def left_open(lab):
    """A transaction stays open while rows are changed again and again, before and in the run: what
    it may still ask for can't be removed."""
    begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT" if lab.server.driver == "mysql" else \
        "BEGIN ISOLATION LEVEL REPEATABLE READ"
    tables = lab.load.tables
    database = tables.database
    lab.server.sql("CREATE TABLE IF NOT EXISTS left_open (id int)", database)
    with Session(lab.server, database) as session:
        # It has written, too: whatever was changed since may be of a transaction that others don't
        # see yet, so that readers look at each row's versions.
        session.ask(f"{begin}; INSERT INTO left_open VALUES (1); SELECT count(*) FROM sbtest1")
        lab.client.burst(Load("oltp_update_index", tables, 8), lab.server.url_of(database),
                         lab.seconds)

        def prove(run):
            if lab.server.driver == "mysql":
                history = run.after["innodb_history_list_length"]
                return history >= 5_000, f"history list of {history:,.0f}"
            dead = float(lab.server.sql("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname "
                                        "= 'sbtest1'", database)[0])
            return dead >= 2_000, f"{dead:,.0f} dead rows"

        yield Made(prove)
    if lab.server.driver == "pgsql":
        lab.server.sql("VACUUM FULL sbtest1", database)


def crowded(grow_ms):
    """Many sessions insert into one table, and its growth is slow: they wait for the lock to grow
    it."""

    @contextlib.contextmanager
    def make(lab):
        with lab.slow_disk.slowed(write_ns=grow_ms * 1e6), Waits(lab.server, "growth") as waits:
            yield Made(lambda _: (waits.mean() >= 2,
                                  f"{waits.mean():.1f} sessions wait to grow a table"))

    return make


def too_much(of_capacity):
    """More arrivals than the server can take."""

    @contextlib.contextmanager
    def make(lab):
        rate = int(of_capacity * lab.capacity)
        shares = []

        def prove(run):
            share = run.measured.per_second / rate
            shares.append(share)
            late = run.measured.response_ms / max(0.001, run.measured.mean_ms)
            said = f"{share:.0%} of {rate:,}/s done, response time {late:.0f} times service time"
            return share <= 0.9 and late >= 3, said

        def true_too():
            # A server that does more than before may have served nearly all of it.
            return ("offered-load",) if shares and shares[-1] > 0.95 else ()

        yield Made(prove, load=lambda load: load.with_options(f"--rate={rate}"), true_too=true_too)

    return make


# ---- proofs by counters ------------------------------------------------------------------------


def checkpointed(run):
    """Checkpoints that the log's size asked for."""
    if "checkpoints_requested" in run.after:
        count = run.grew("checkpoints_requested")
        return count >= 2, f"{count:.0f} checkpoints requested"
    age, limit = run.after["innodb_checkpoint_age"], run.after["innodb_checkpoint_max_age"]
    return age >= 0.5 * limit, f"checkpoint age {age / limit:.0%} of its maximum"


def reconnected(transactions):
    """A connection for so many transactions."""

    def prove(run):
        each = run.per_transaction("connections", "sessions")
        return each >= 0.8 / transactions, f"{each:.2f} connections a transaction"

    return prove


def refused(allowed):
    """Fewer sessions than were asked for. MariaDB keeps one connection more for an administrator."""

    def prove(run):
        most = max(run.measured.sessions, default=0)
        return 0 < most <= allowed + 1, f"{most} sessions connected"

    return prove
