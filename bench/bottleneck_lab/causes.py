"""The causes: what makes each, what proves that it holds, and what Tidemark may call it."""

import contextlib
import dataclasses
import os
import time
import typing

from .background import HeldLock, Session, Waits
from .limits import CpuLimit, Spinners, Stops, read_rate
from .proxy import Distance
from .runs import Load
from .servers import ENGINES, Tables

SMALL = Tables("sbtest", 2, 10_000)
LARGE = Tables("large", 1, 300_000, ("--rand-type=uniform",))
ONE_ROW = Tables("onerow", 1, 1)
FEW_ROWS = Tables("fewrows", 1, 100)
# As many rows as values of k: an index finds one row each.
NO_INDEX = Tables("noindex", 1, 20_000, ("--rand-type=uniform",))
CROWDED = Tables("crowded", 1, 1_000)

EACH_WAY_MS = 2
FLUSH_MS = 10
READS_A_SECOND = 400
CLIENT_CORES, SERVER_CORES = 0.06, 0.2
# To sign in takes a throttled client seconds.
PATIENT = ("--connect-timeout=60s", "--thread-init-timeout=60")
STOP_EVERY_S, STOP_S = 2.0, 0.3
LOCK_HELD_S, LOCK_FREE_S = 1.0, 0.5
FEW_CONNECTIONS = 12
OVERLOAD = 1.5
# Less memory than the tables take: MariaDB's least is five megabytes.
TINY_CACHE = {"mariadb": ("innodb-buffer-pool-size=6M", "innodb-flush-method=O_DIRECT"),
              "postgres": ("shared_buffers=2MB",)}
# What 8 KiB take on a disk of about 40 MB/s; MariaDB's own threads wait for it.
PAGE_WRITE_MS = 0.2
TINY_LOG = {"mariadb": ("innodb-log-file-size=4M",), "postgres": ("max_wal_size=32MB",)}
FEW_SESSIONS = {"mariadb": (f"max-connections={FEW_CONNECTIONS}",),
                "postgres": (f"max_connections={FEW_CONNECTIONS}",
                             "superuser_reserved_connections=0", "max_wal_senders=0")}
# Growing a table by a page takes so long, and all that insert wait for it.
GROW_MS = 30


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
    """A cause while it is made: how a run differs, and what proves it."""

    def __init__(self, prove=None, port=None, group=None, load=None):
        self.prove = prove or (lambda run: (True, ""))
        self.port, self.group, self.load = port, group, load


@contextlib.contextmanager
def as_asked(_):
    """The load itself, or the server's settings, are the cause."""
    yield Made()


@dataclasses.dataclass(frozen=True)
class Cause:
    """A bottleneck that can be made."""

    name: str
    #: Ids that name it.
    called: tuple
    #: Its load, and the one that it is compared with, on a server without it.
    load: Load
    healthy: Load
    #: The throughput without it over that with it has to be this much.
    slower: float
    make: typing.Callable = as_asked
    #: Ids that are true as well.
    true_too: tuple = ()
    settings: dict = dataclasses.field(default_factory=dict)
    #: What holds beside the ratio: (run) -> (whether, words).
    prove: typing.Callable = None
    engines: tuple = ENGINES
    #: What the disk is like with and without the cause, as SlowDisk is asked for it.
    disk: tuple = ()
    #: What `tidemark diagnose` may find: the class.
    classes: tuple = ()

    def settings_of(self, engine):
        """The server's settings that belong to it."""
        return tuple(self.settings.get(engine, ()))


# ---- making ------------------------------------------------------------------------------------


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


@contextlib.contextmanager
def client_limited(lab):
    """A CPU quota of the client; where there are no control groups, it can't be limited from its
    first moment, and `client.group` is none."""
    limit = CpuLimit(CLIENT_CORES)
    with limit.of(lambda: lab.client.pids()):
        def prove(_):
            return limit.throttled() >= 10, f"client throttled {limit.throttled()} times"

        yield Made(prove, group=limit.group)


@contextlib.contextmanager
def server_limited(lab):
    """A CPU quota of the server's processes."""
    limit = CpuLimit(SERVER_CORES)
    with limit.of(lab.server.pids):
        def prove(_):
            return limit.throttled() >= 10, f"server throttled {limit.throttled()} times"

        yield Made(prove)


@contextlib.contextmanager
def neighbour(lab):
    """Programs that spin on the processors."""
    with Spinners(4 * len(os.sched_getaffinity(0))) as spinners:
        def prove(run):
            cores = spinners.cpu_seconds() / max(0.1, run.measured.elapsed_s)
            return cores >= 0.5, f"spinning on {cores:.1f} cores"

        yield Made(prove)


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


@contextlib.contextmanager
def uncached(lab):
    """Pages that the server does not keep are read from the disk, not from the page cache."""
    prove = pages_read(lab)
    with lab.slow_disk.slowed(uncached=1):
        yield Made(prove)


@contextlib.contextmanager
def few_reads(lab):
    """A disk of so many reads a second."""
    with lab.slow_disk.slowed(uncached=1), \
            read_rate(lab.server.pids, lab.server.folder, READS_A_SECOND) as disk:
        # One read of the disk may bring several pages, which the control group knows.
        reads = disk.reads if disk else lambda: lab.slow_disk.counted()["reads"]
        before, since = reads(), time.monotonic()

        def prove(_):
            rate = (reads() - before) / (time.monotonic() - since)
            near = 0.4 * READS_A_SECOND <= rate <= 1.2 * READS_A_SECOND
            return near, f"{rate:.0f} reads/s of {READS_A_SECOND} allowed"

        with lab.slow_disk.slowed(slot_ns=0 if disk else 1e9 / READS_A_SECOND):
            yield Made(prove)


@contextlib.contextmanager
def hot(lab):
    """The load is the cause; sessions that wait for a row lock are counted."""
    with Waits(lab.server, "row-lock") as waits:
        yield Made(lambda _: (waits.mean() >= 2, f"{waits.mean():.1f} sessions wait for row locks"))


@contextlib.contextmanager
def lock_held(lab):
    """Another session locks the table now and then."""
    with HeldLock(lab.server, lab.load.tables.database, LOCK_HELD_S, LOCK_FREE_S) as lock:
        yield Made(lambda _: (lock.rounds >= 3, f"locked {lock.rounds} times {LOCK_HELD_S:g} s"))


@contextlib.contextmanager
def stopped(lab):
    """The server stands still now and then."""
    with Stops(lab.server.pids, STOP_EVERY_S, STOP_S) as stops:
        def prove(run):
            said = f"stopped {stops.count} times {STOP_S:g} s, slowest transaction"
            longest = run.measured.most_ms
            return stops.count >= 2 and longest >= 900 * STOP_S, f"{said} {longest:.0f} ms"

        yield Made(prove)


@contextlib.contextmanager
def index_dropped(lab):
    """The index on k is gone; it comes back."""
    name = "k_1"
    on = " ON sbtest1" if lab.server.driver == "mysql" else ""
    lab.server.sql(f"DROP INDEX {name}{on}", NO_INDEX.database)
    try:
        def prove(run):
            rows = run.per_transaction("handler_read_rnd_next", "rows_scanned")
            return rows >= NO_INDEX.rows / 2, f"{rows:,.0f} rows read a transaction"

        yield Made(prove)
    finally:
        lab.server.sql(f"CREATE INDEX {name} ON sbtest1 (k)", NO_INDEX.database)


@contextlib.contextmanager
def left_open(lab):
    """A transaction stays open while rows are changed again and again, before and in the run: what
    it may still ask for can't be removed."""
    begin = "START TRANSACTION WITH CONSISTENT SNAPSHOT" if lab.server.driver == "mysql" else \
        "BEGIN ISOLATION LEVEL REPEATABLE READ"
    database = FEW_ROWS.database
    lab.server.sql("CREATE TABLE IF NOT EXISTS left_open (id int)", database)
    with Session(lab.server, database) as session:
        # It has written, too: whatever was changed since may be of a transaction that others don't
        # see yet, so that readers look at each row's versions.
        session.ask(f"{begin}; INSERT INTO left_open VALUES (1); SELECT count(*) FROM sbtest1")
        lab.client.burst(Load("oltp_update_index", FEW_ROWS, 8), lab.server.url_of(database),
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


@contextlib.contextmanager
def crowded(lab):
    """Many sessions insert into one table, and its growth is slow: they wait for the lock to grow
    it."""
    with lab.slow_disk.slowed(write_ns=GROW_MS * 1e6), Waits(lab.server, "growth") as waits:
        yield Made(lambda _: (waits.mean() >= 2, f"{waits.mean():.1f} sessions wait to grow a table"))


@contextlib.contextmanager
def too_much(lab):
    """More arrivals than the server can take."""
    rate = int(OVERLOAD * lab.capacity)

    def prove(run):
        share = run.measured.per_second / rate
        late = run.measured.response_ms / max(0.001, run.measured.mean_ms)
        said = f"{share:.0%} of {rate:,}/s done, response time {late:.0f} times service time"
        return share <= 0.9 and late >= 3, said

    yield Made(prove, load=lambda load: load.with_options(f"--rate={rate}"))


# ---- proofs by counters ------------------------------------------------------------------------


def checkpointed(run):
    """Checkpoints that the log's size asked for."""
    if "checkpoints_requested" in run.after:
        count = run.grew("checkpoints_requested")
        return count >= 2, f"{count:.0f} checkpoints requested"
    age, limit = run.after["innodb_checkpoint_age"], run.after["innodb_checkpoint_max_age"]
    return age >= 0.5 * limit, f"checkpoint age {age / limit:.0%} of its maximum"


def reconnected(run):
    """A connection for each transaction."""
    each = run.per_transaction("connections", "sessions")
    return each >= 0.8, f"{each:.2f} connections a transaction"


def refused(run):
    """Fewer sessions than were asked for."""
    most = max(run.measured.sessions, default=0)
    return 0 < most <= FEW_CONNECTIONS + 1, f"{most} sessions connected"


CAUSES = [
    Cause("network-distance", ("network-distance",),
          Load("oltp_point_select", SMALL, 8), Load("oltp_point_select", SMALL, 8), 2.0,
          far_away(EACH_WAY_MS), classes=("distance",)),
    Cause("one-session", ("too-few-sessions",),
          Load("oltp_point_select", SMALL, 1), Load("oltp_point_select", SMALL, 8), 1.3,
          classes=("sessions",)),
    Cause("client-quota", ("cpu-quota", "client-cpu"),
          Load("oltp_point_select", SMALL, 16, PATIENT), Load("oltp_point_select", SMALL, 16), 1.5,
          client_limited, classes=("client",)),
    Cause("neighbour", ("neighbour",),
          Load("oltp_read_only", SMALL, 8), Load("oltp_read_only", SMALL, 8), 1.3, neighbour,
          true_too=("client-cpu", "server-cpu"), classes=("client", "cpu")),
    Cause("server-quota", ("cpu-quota", "server-cpu"),
          Load("oltp_read_only", SMALL, 8), Load("oltp_read_only", SMALL, 8), 2.0, server_limited,
          classes=("cpu",)),
    Cause("slow-flush", ("commit-log",),
          Load("oltp_update_non_index", SMALL, 8), Load("oltp_update_non_index", SMALL, 8), 1.5,
          flush_slowed(FLUSH_MS), classes=("log",)),
    Cause("disk-rate", ("disk-rate",),
          Load("oltp_point_select", LARGE, 16),
          Load("oltp_point_select", LARGE, 16), 2.0, few_reads,
          true_too=("cache-misses",), settings=TINY_CACHE, classes=("cache",)),
    Cause("tiny-cache", ("cache-misses",),
          Load("oltp_point_select", LARGE, 8),
          Load("oltp_point_select", LARGE, 8), 1.3, uncached,
          true_too=("disk-rate", "server-cpu"), settings=TINY_CACHE, classes=("cache",)),
    Cause("hot-row", ("row-locks",),
          Load("oltp_update_non_index", ONE_ROW, 16), Load("oltp_update_non_index", SMALL, 16), 1.3,
          hot, true_too=("commit-log",), classes=("contention",)),
    Cause("lock-held", ("lock-held",),
          Load("oltp_point_select", SMALL, 8, ("--tables=1",)),
          Load("oltp_point_select", SMALL, 8, ("--tables=1",)), 1.5, lock_held,
          true_too=("row-locks",), classes=("contention",)),
    Cause("connection-limit", ("connection-limit",),
          Load("oltp_read_only", SMALL, 64, ("--fewer-sessions=go-on",)),
          Load("oltp_read_only", SMALL, 64), 0.0, settings=FEW_SESSIONS, prove=refused,
          true_too=("too-few-sessions", "server-cpu")),
    Cause("connection-churn", ("connection-churn",),
          Load("oltp_point_select", SMALL, 8, ("--reconnect=1",)),
          Load("oltp_point_select", SMALL, 8), 1.5, prove=reconnected, true_too=("server-cpu",),
          classes=("cpu",)),
    Cause("missing-index", ("missing-index",),
          Load("select_random_points", NO_INDEX, 8, ("--force=on",)),
          Load("select_random_points", NO_INDEX, 8), 2.0, index_dropped,
          true_too=("server-cpu",), classes=("cpu",)),
    Cause("checkpoints", ("checkpoints",),
          Load("oltp_write_only", LARGE, 16),
          Load("oltp_write_only", LARGE, 16), 1.2, settings=TINY_LOG,
          prove=checkpointed, true_too=("commit-log", "disk-rate"), classes=("log",),
          disk=(("write_ns", PAGE_WRITE_MS * 1e6), ("log_ns", PAGE_WRITE_MS * 1e6))),
    Cause("long-transaction", ("long-transaction", "cleanup"),
          Load("select_random_ranges", FEW_ROWS, 8), Load("select_random_ranges", FEW_ROWS, 8), 1.3,
          left_open, true_too=("server-cpu",), classes=("cpu",)),
    Cause("latches", ("latches",),
          Load("oltp_insert", CROWDED, 32), Load("oltp_insert", CROWDED, 32), 1.3, crowded,
          engines=("postgres",), true_too=("commit-log", "disk-rate", "server-cpu"),
          classes=("contention",)),
    Cause("server-stops", ("server-stalls",),
          Load("oltp_point_select", SMALL, 8), Load("oltp_point_select", SMALL, 8), 0.0, stopped),
    Cause("overload", ("overload",),
          Load("oltp_read_only", SMALL, 16), Load("oltp_read_only", SMALL, 16), 0.0, too_much,
          true_too=("server-cpu", "client-cpu"), classes=("cpu", "client")),
]
BY_NAME = {cause.name: cause for cause in CAUSES}
