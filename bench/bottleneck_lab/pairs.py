"""Two causes at once, and runs with none."""

import dataclasses
import itertools

from .background import Upkeep
from .causes import BY_NAME, LARGE, NO_INDEX, ONE_ROW, SMALL
from .limits import Spinners
from .making import far_away
from .runs import Load


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two causes that act on one load."""

    names: tuple
    load: Load
    healthy: Load
    slower: float = 1.3
    #: A cause that is made in another way than alone, so that both take their part.
    instead: dict = dataclasses.field(default_factory=dict)

    @property
    def name(self):
        """For people."""
        return " + ".join(self.names)

    @property
    def causes(self):
        """Both."""
        return [self.instead.get(name, BY_NAME[name]) for name in self.names]


def _pair(one, other, script, tables, sessions, *options, healthy=None, instead=None):
    load = Load(script, tables, sessions, options)
    return Pair((one, other), load, healthy or load, instead=instead or {})


UPDATES = ("oltp_update_non_index", SMALL, 8)
# About as long as a commit waits for slow flushes.
FARTHER = dataclasses.replace(BY_NAME["network-distance"], make=far_away(8))
PAIRS = [
    _pair("network-distance", "slow-flush", *UPDATES,
          instead={"network-distance": FARTHER}),
    # Enough sessions for a quick server to meet its quota, however far they are.
    _pair("network-distance", "server-quota", "oltp_read_only", SMALL, 32),
    _pair("network-distance", "connection-churn", "oltp_point_select", SMALL, 8, "--reconnect=1",
          healthy=Load("oltp_point_select", SMALL, 8)),
    _pair("network-distance", "one-session", "oltp_point_select", SMALL, 1,
          healthy=Load("oltp_point_select", SMALL, 8)),
    _pair("slow-flush", "hot-row", "oltp_update_non_index", ONE_ROW, 16,
          healthy=Load("oltp_update_non_index", SMALL, 16)),
    _pair("slow-flush", "lock-held", *UPDATES, "--tables=1"),
    _pair("slow-flush", "neighbour", *UPDATES),
    _pair("slow-flush", "disk-rate", "oltp_update_non_index", LARGE, 8),
    _pair("slow-flush", "server-stops", *UPDATES),
    _pair("missing-index", "lock-held", "select_random_points", NO_INDEX, 8, "--force=on",
          healthy=Load("select_random_points", NO_INDEX, 8)),
]

# Commits that do not wait for the disk: else the disk of the machine would be the limit of all that
# writes.
NO_WAIT = {"mariadb": ("innodb-flush-log-at-trx-commit=2",), "postgres": ("synchronous_commit=off",)}
HEALTHY_SCRIPTS = ("oltp_point_select", "oltp_read_only", "oltp_read_write", "oltp_update_index",
                   "select_random_points")
FEW, MANY = 8, 32
# Of what the same load does without a schedule.
STEADY, QUIET, BURST = 0.3, 0.1, 0.5
# What a neighbour takes that nobody feels: less than the least that is called one.
NEIGHBOUR_CORES = 0.08


def _upkeep(server, database):
    return Upkeep(server, database)


def _small_neighbour(_, __):
    return Spinners(1, NEIGHBOUR_CORES)


#: What goes on beside a healthy run, and holds up nobody.
BESIDE = {"upkeep": _upkeep, "small neighbour": _small_neighbour}


@dataclasses.dataclass(frozen=True)
class Healthy:
    """A run that nothing holds up but the server's own work, or nothing at all."""

    load: Load
    #: Shares of what the server can do, a second each and again: its schedule.
    shares: tuple = ()
    #: What goes on beside it, of `BESIDE`.
    beside: str = None

    @property
    def scheduled(self):
        """Whether arrivals follow a schedule."""
        return bool(self.shares)

    @property
    def name(self):
        """For people."""
        how = " and ".join(f"{share:.0%}" for share in self.shares)
        said = [self.load.script, f"{self.load.sessions} sessions",
                f"{how} of capacity" if how else "no schedule"]
        return ", ".join([*said, *([f"beside {self.beside}"] if self.beside else [])])

    def load_at(self, capacity, seconds):
        """Its load on a server that can do so much."""
        rates = [max(1, int(share * capacity)) for share in self.shares]
        if not rates:
            return self.load
        if len(rates) == 1:
            return self.load.with_options(f"--rate={rates[0]}")
        in_turn = itertools.islice(itertools.cycle(rates), seconds)
        return self.load.in_steps(f"--rate={','.join(map(str, in_turn))}", "--rate-hold=1s")


def _healthy():
    """Each load without a schedule first: its throughput is the capacity of the one after it."""
    besides = itertools.cycle((None, "upkeep", "small neighbour"))
    schedules = itertools.cycle((((QUIET, BURST), None), ((STEADY,), "upkeep"),
                                 ((STEADY,), "small neighbour")))
    for script in HEALTHY_SCRIPTS:
        yield Healthy(Load(script, SMALL, FEW))
        yield Healthy(Load(script, SMALL, FEW), (STEADY,))
    for script in HEALTHY_SCRIPTS:
        shares, beside = next(schedules)
        yield Healthy(Load(script, SMALL, MANY), beside=next(besides))
        yield Healthy(Load(script, SMALL, MANY), shares, beside)


HEALTHY = list(_healthy())
