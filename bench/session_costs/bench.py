"""The parts: what is run on which server."""

import contextlib
import subprocess
import tempfile

from laboratory.process import ROWS, Laboratory
from vs_sysbench import clients as vs
from vs_sysbench import machine, target
from vs_sysbench.clients import BARE, SYSBENCH, TIDEMARK, Clients, Size
from vs_sysbench.command import tables
from vs_sysbench.errors import BenchError

from . import parse, report
from .figures import Crowd, Run
from .pgbouncer import POOL, PgBouncer
from .report import PREPARED, TEXT

WORKLOAD = "oltp_point_select"
DRIVERS = {"mysql": "MySQL protocol", "pgsql": "PostgreSQL protocol"}
# Beyond the time that opening them at the rate asked for takes.
PATIENCE = "--thread-init-timeout=120"


@contextlib.contextmanager
def reached(programs, url, driver):
    """A server by its URL, as the clients' target."""
    server = target.from_url(url, driver)
    with tempfile.TemporaryDirectory(prefix="tidemark-bench.") as folder:
        yield Clients(programs, server, target.Secrets(server, folder), folder)


def _said(done):
    """What a client says about its run."""
    try:
        return parse.summary(done.stdout)
    except BenchError as error:
        raise BenchError(f"{error}\n{done.stdout}{done.stderr}") from error


class Bench:
    """Runs the parts; what they found is kept for the tables."""

    def __init__(self, programs, lab, plan, say):
        self.programs, self.lab, self.plan, self.say = programs, lab, plan, say
        self.many, self.terminals, self.bare, self.sysbench = [], [], [], []

    def settings(self):
        """What scripts/servers is given for thousands of sessions at once."""
        return [
            # A thread for each session would make the machine's load the server's threads.
            "--mariadb-set=thread-handling=pool-of-threads",
            f"--mariadb-set=max-connections={self.plan.many + 100}",
            "--mariadb-set=back-log=4096",
            f"--mariadb-set=open-files-limit={2 * self.plan.many + 1000}",
            # A statement for each table in each session.
            "--mariadb-set=max-prepared-stmt-count=1048576",
            # Tidemark asks the server what it allows, and through pgbouncer it is the server behind
            # that answers, though only pgbouncer's few sessions ever reach it.
            f"--postgres-set=max_connections={self.plan.bounced + 100}",
        ]

    def with_crowds(self, urls, parts):
        """10,000 sessions, and 100,000 terminals."""
        for driver, url in urls.items():
            with reached(self.programs, url, driver) as clients:
                name = self._name(clients)
                with tables(clients, self.plan, with_pgbench=False):
                    if "many" in parts and driver == "mysql":
                        pool = "thread_handling"
                        pool = target.query(clients.target, clients.secrets, f"SELECT @@{pool}")[0]
                        self._many(clients, f"{name}, {pool}", self.plan.many)
                    if "many" in parts and driver == "pgsql":
                        self._bounced(clients, name)
                    if "terminals" in parts:
                        options = [
                            f"--connections={self.plan.connections}",
                            f"--think-time={self.plan.think}",
                        ]
                        where = (name, self.plan.terminals, self.plan.connections)
                        self.terminals.append(self._crowd(clients, where, options))

    def with_laboratory(self):
        """10,000 sessions on servers that cost next to nothing."""
        size = Size(self.plan.run_size.tables, ROWS)
        for driver in DRIVERS:
            with Laboratory(self.lab, f"--tables={size.tables}") as laboratory:
                url = laboratory.urls["mysql" if driver == "mysql" else "postgres"]
                with reached(self.programs, url, driver) as clients:
                    self._many(clients, f"laboratory, {DRIVERS[driver]}", self.plan.many, size)

    def with_pairs(self, urls, parts):
        """CPU per query beside the bare loop and beside sysbench, in turn."""
        for driver, url in urls.items():
            with reached(self.programs, url, driver) as clients:
                name = self._name(clients)
                with tables(clients, self.plan, with_pgbench=False):
                    self._run(clients, SYSBENCH, self.plan.bare_sessions[0])
                    if "bare-loop" in parts:
                        for sessions in self.plan.bare_sessions:
                            self._in_turn(self.bare, clients, name, sessions, [TIDEMARK, BARE])
                    if "sysbench" in parts:
                        names = [TIDEMARK, PREPARED, TEXT]
                        sessions = self.plan.sysbench_sessions
                        self._in_turn(self.sysbench, clients, name, sessions, names)

    def recording(self, program, smoke):
        """What bench/recording prints."""
        command = [program or machine.ROOT / "bench/recording", *(["--smoke"] if smoke else [])]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise BenchError(f"{command[0]} ended with {done.returncode}\n{done.stderr}")
        self.say(done.stdout.rstrip())
        return parse.recording(done.stdout)

    def _name(self, clients):
        name = target.server_version(clients.target, clients.secrets)
        self.say(f"\n{name}")
        return name

    def _bounced(self, clients, name):
        with PgBouncer(clients.target, self.plan.bounced) as pool:
            with reached(self.programs, pool.server.url, "pgsql") as through:
                where = f"{name} behind pgbouncer ({POOL} server sessions)"
                # A prepared statement belongs to a server session, and this version of pgbouncer
                # (before 1.21) does not know of them in its transaction pooling.
                options = ["--db-ps-mode=disable"]
                self._many(through, where, self.plan.bounced, options=options)

    def _many(self, clients, name, sessions, size=None, options=()):
        options = [f"--connect-rate={self.plan.connect_rate}", PATIENCE, *options]
        self.many.append(self._crowd(clients, (name, sessions, sessions), options, size))

    def _crowd(self, clients, where, options, size=None):
        name, terminals, sessions = where
        crowd = Crowd(name, terminals, sessions, [])
        seconds = self.plan.crowd_seconds
        for _ in range(self.plan.runs):
            size = size or self.plan.run_size
            done = clients.run_with(TIDEMARK, WORKLOAD, size, terminals, seconds, *options)
            said = _said(done)
            crowd.runs.append(Run(vs.sample(done, said.queries, said.per_second), said))
            self.say(report.crowd_line(crowd))
        return crowd

    def _in_turn(self, into, clients, server, sessions, names):
        """In every round each client runs once, and every second round in the opposite order, so
        that a drift of the machine or the server falls on all alike."""
        found = {name: [] for name in names}
        for number in range(self.plan.pairs):
            for name in names if number % 2 == 0 else reversed(names):
                found[name].append(self._run(clients, name, sessions))
            last = {name: samples[-1] for name, samples in found.items()}
            self.say(report.pair_line(server, sessions, last))
        into.append((server, sessions, found))

    def _run(self, clients, name, sessions):
        size, seconds = self.plan.run_size, self.plan.seconds
        if name == BARE:
            return clients.run(BARE, WORKLOAD, size, sessions, seconds)
        options = ["--db-ps-mode=disable"] if name == TEXT else []
        client = TIDEMARK if name == TIDEMARK else SYSBENCH
        done = clients.run_with(client, WORKLOAD, size, sessions, seconds, *options)
        said = _said(done)
        if said.errors or said.reconnects:
            raise BenchError(f"{name}: errors in a run that should have none\n{done.stdout}")
        return vs.sample(done, said.queries, said.per_second)
