"""The causes: what makes each, what proves that it holds, and what Tidemark may call it."""

import dataclasses
import typing

from . import making
from .making import as_asked
from .runs import Load
from .servers import ENGINES, Tables

SMALL = Tables("sbtest", 2, 10_000)
LARGE = Tables("large", 1, 300_000, ("--rand-type=uniform",))
ONE_ROW = Tables("onerow", 1, 1)
FEW_ROWS = Tables("fewrows", 1, 100)
# As many rows as values of k: an index finds one row each.
NO_INDEX = Tables("noindex", 1, 20_000, ("--rand-type=uniform",))
CROWDED = Tables("crowded", 1, 1_000)

#: How strong a cause is made: of some the weak one is just what slows a load as its `slower` asks.
DOSES = ("weak", "middle", "strong")
# To sign in takes a throttled client seconds.
PATIENT = ("--connect-timeout=60s", "--thread-init-timeout=60")
# What sessions without a limit have: a distance leaves CPU for all of them.
MANY_SESSIONS, THEIR_EACH_WAY_MS = 64, 20
# A read of networked storage; a millisecond would be a slow disk.
PAGE_READ_MS = 0.4
# Seconds in which a server whose disk is full, or that stops, answers observers often enough.
SLOW_RUN_S = 12


def cache_of(megabytes):
    """Less memory than the tables take: MariaDB's least is five megabytes."""
    return {"mariadb": (f"innodb-buffer-pool-size={max(6, megabytes)}M",
                        "innodb-flush-method=O_DIRECT"),
            "postgres": (f"shared_buffers={megabytes}MB",)}


def connections(most):
    """So many sessions at most."""
    return {"mariadb": (f"max-connections={most}",),
            "postgres": (f"max_connections={most}", "superuser_reserved_connections=0",
                         "max_wal_senders=0")}


def page_writes(ms):
    """What 8 KiB take on a disk; MariaDB's own threads wait for it."""
    return ("write_ns", ms * 1e6), ("log_ns", ms * 1e6)


TINY_LOG = {"mariadb": ("innodb-log-file-size=4M",), "postgres": ("max_wal_size=32MB",)}


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
    #: How far away the server is with and without the cause, in milliseconds each way.
    each_way_ms: float = 0
    #: What `tidemark diagnose` may find: the class.
    classes: tuple = ()
    #: A run's least length.
    least_s: int = 0
    #: What differs in each dose; nothing in the middle one.
    doses: tuple = ()
    dose: str = None

    def settings_of(self, engine):
        """The server's settings that belong to it."""
        return tuple(self.settings.get(engine, ()))

    def at(self, dose):
        """The same, so strong; one without doses is always the same."""
        if not self.doses:
            return self
        return dataclasses.replace(self, **self.doses[DOSES.index(dose)], doses=(), dose=dose)


def doses(weak, strong):
    """The doses of a cause whose middle one is as its row has it."""
    return weak, {}, strong


def made_by(make, weak, strong):
    """Doses that differ in what the maker is given: a value, or several as a tuple."""
    def of(given):
        return {"make": make(*given) if isinstance(given, tuple) else make(given)}

    return doses(of(weak), of(strong))


def on_one_row(sessions):
    """So many sessions at one row, and at many."""
    return {"load": Load("oltp_update_non_index", ONE_ROW, sessions),
            "healthy": Load("oltp_update_non_index", SMALL, sessions)}


def reconnecting(transactions):
    """A connection for so many transactions."""
    return {"load": Load("oltp_point_select", SMALL, 8, (f"--reconnect={transactions}",)),
            "prove": making.reconnected(transactions)}


def limited_to(most):
    """So many connections."""
    return {"settings": connections(most), "prove": making.refused(most)}


CAUSES = [
    Cause("network-distance", ("network-distance",),
          Load("oltp_point_select", SMALL, 8), Load("oltp_point_select", SMALL, 8), 2.0,
          making.far_away(2), classes=("distance",), doses=made_by(making.far_away, 1, 10)),
    Cause("one-session", ("too-few-sessions",),
          Load("oltp_point_select", SMALL, 1), Load("oltp_point_select", SMALL, 8), 1.3,
          classes=("sessions",)),
    Cause("client-quota", ("cpu-quota", "client-cpu"),
          Load("oltp_point_select", SMALL, 16, PATIENT), Load("oltp_point_select", SMALL, 16), 1.5,
          making.client_limited(0.12), classes=("client",),
          doses=made_by(making.client_limited, 0.25, 0.06)),
    Cause("neighbour", ("neighbour",),
          Load("oltp_read_only", SMALL, 8), Load("oltp_read_only", SMALL, 8), 1.3,
          making.neighbour(4), true_too=("client-cpu", "server-cpu"), classes=("client", "cpu"),
          doses=made_by(making.neighbour, 2, 8)),
    Cause("server-quota", ("cpu-quota", "server-cpu"),
          Load("oltp_read_only", SMALL, 8), Load("oltp_read_only", SMALL, 8), 2.0,
          making.server_limited(0.2), classes=("cpu",),
          doses=made_by(making.server_limited, 0.4, 0.1)),
    Cause("slow-flush", ("commit-log",),
          Load("oltp_update_non_index", SMALL, 8), Load("oltp_update_non_index", SMALL, 8), 1.5,
          making.flush_slowed(10), classes=("log",), doses=made_by(making.flush_slowed, 3, 40)),
    Cause("disk-rate", ("disk-rate",),
          Load("oltp_point_select", LARGE, 16), Load("oltp_point_select", LARGE, 16), 2.0,
          making.few_reads(400), true_too=("cache-misses",), settings=cache_of(2),
          classes=("cache",), least_s=SLOW_RUN_S, doses=made_by(making.few_reads, 1_000, 200)),
    Cause("tiny-cache", ("cache-misses",),
          Load("oltp_point_select", LARGE, 8), Load("oltp_point_select", LARGE, 8), 1.3,
          making.uncached(PAGE_READ_MS), true_too=("disk-rate", "server-cpu"),
          settings=cache_of(8), classes=("cache",),
          doses=doses({"settings": cache_of(24)}, {"settings": cache_of(2)})),
    Cause("hot-row", ("row-locks",), **on_one_row(32), slower=1.3, make=making.hot,
          true_too=("commit-log",), classes=("contention",),
          doses=doses(on_one_row(16), on_one_row(64))),
    Cause("lock-held", ("lock-held",),
          Load("oltp_point_select", SMALL, 8, ("--tables=1",)),
          Load("oltp_point_select", SMALL, 8, ("--tables=1",)), 1.5, making.lock_held(1.0, 0.5),
          true_too=("row-locks",), classes=("contention",),
          doses=made_by(making.lock_held, (1.0, 1.0), (1.6, 0.3))),
    # Far enough for its sessions to leave the CPU idle, so that more of them would do more.
    Cause("connection-limit", ("connection-limit",),
          Load("oltp_point_select", SMALL, MANY_SESSIONS, ("--fewer-sessions=go-on",)),
          Load("oltp_point_select", SMALL, MANY_SESSIONS), 1.5, **limited_to(12),
          each_way_ms=THEIR_EACH_WAY_MS, true_too=("too-few-sessions", "network-distance"),
          doses=doses(limited_to(24), limited_to(10))),
    Cause("connection-churn", ("connection-churn",), healthy=Load("oltp_point_select", SMALL, 8),
          slower=1.5, true_too=("server-cpu",), classes=("cpu",), **reconnecting(2),
          doses=doses(reconnecting(4), reconnecting(1))),
    Cause("missing-index", ("missing-index",),
          Load("select_random_points", NO_INDEX, 8, ("--force=on",)),
          Load("select_random_points", NO_INDEX, 8), 2.0, making.index_dropped,
          true_too=("server-cpu",), classes=("cpu",)),
    Cause("checkpoints", ("checkpoints",),
          Load("oltp_write_only", LARGE, 16), Load("oltp_write_only", LARGE, 16), 1.2,
          settings=TINY_LOG, prove=making.checkpointed, true_too=("commit-log", "disk-rate"),
          classes=("log",), disk=page_writes(0.2),
          doses=doses({"disk": page_writes(0.1)}, {"disk": page_writes(0.4)})),
    Cause("long-transaction", ("long-transaction", "cleanup"),
          Load("select_random_ranges", FEW_ROWS, 8), Load("select_random_ranges", FEW_ROWS, 8), 1.3,
          making.left_open, true_too=("server-cpu",), classes=("cpu",)),
    Cause("latches", ("latches",),
          Load("oltp_insert", CROWDED, 32), Load("oltp_insert", CROWDED, 32), 1.3,
          making.crowded(30), engines=("postgres",),
          true_too=("commit-log", "disk-rate", "server-cpu"), classes=("contention",),
          doses=made_by(making.crowded, 10, 60)),
    # Between its stops the host may be as full as without them: its maker looks.
    Cause("server-stops", ("server-stalls",),
          Load("oltp_point_select", SMALL, 8), Load("oltp_point_select", SMALL, 8), 0.0,
          making.stopped(0.3), least_s=SLOW_RUN_S, doses=made_by(making.stopped, 0.2, 0.8)),
    Cause("overload", ("overload",),
          Load("oltp_read_only", SMALL, 16), Load("oltp_read_only", SMALL, 16), 0.0,
          making.too_much(1.5), true_too=("server-cpu", "client-cpu"), classes=("cpu", "client"),
          doses=made_by(making.too_much, 1.25, 3.0)),
]
BY_NAME = {cause.name: cause for cause in CAUSES}
