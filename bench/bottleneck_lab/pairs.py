"""Two causes at once, and runs with none."""

import dataclasses

from .causes import BY_NAME, LARGE, NO_INDEX, ONE_ROW, SMALL, far_away
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
    _pair("network-distance", "server-quota", "oltp_read_only", SMALL, 8),
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
HEALTHY_SESSIONS = (8, 32)
# Of what the same load does without a schedule.
HEALTHY_SHARE = 0.3


@dataclasses.dataclass(frozen=True)
class Healthy:
    """A run that nothing holds up but the server's own work, or nothing at all."""

    load: Load
    #: On a schedule far below what the server can do.
    scheduled: bool

    @property
    def name(self):
        """For people."""
        how = f"{HEALTHY_SHARE:.0%} of capacity" if self.scheduled else "no schedule"
        return f"{self.load.script}, {self.load.sessions} sessions, {how}"


#: Each without a schedule first: its throughput is the capacity of the one after it.
HEALTHY = [Healthy(Load(script, SMALL, sessions), scheduled)
           for sessions in HEALTHY_SESSIONS for script in HEALTHY_SCRIPTS
           for scheduled in (False, True)]
