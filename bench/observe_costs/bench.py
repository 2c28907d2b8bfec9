"""Runs with everything observed and with nothing, in turn, and what a long record takes."""

import contextlib
import dataclasses
import json
import os
import pathlib
import sqlite3
import statistics

from session_costs.bench import reached
from tpcc_costs.bench import TABLES
from tpcc_costs.client import Tpcc
from vs_sysbench import target
from vs_sysbench.clients import TIDEMARK
from vs_sysbench.command import dropping, refuse_existing, table_names
from vs_sysbench.errors import BenchError
from vs_sysbench.parse import sysbench as summary

from . import report, totals
from .report import OFF, ON
from .sizes import sizes_of

POINT_SELECT, READ_WRITE, TPCC = "oltp_point_select", "oltp_read_write", "tpcc"
WORKLOADS = (POINT_SELECT, TPCC)
OBSERVE = {ON: "--observe=auto", OFF: "--observe=off"}
# Transactions a second of the long run: what observing takes is looked for, not the load.
QUIET_RATE = 100
# What every record on a server of this host has.
SOURCES = {"client-host", "server-process", "server-status", "server-activity", "network"}
# What own servers are given so that statements are observed, too; users' servers may not have it.
STATEMENTS_TOO = ("--mariadb-set=performance-schema=ON",
                  "--postgres-set=shared_preload_libraries=pg_stat_statements")
STATEMENTS = "server-statements"
EXTENSION = "CREATE EXTENSION IF NOT EXISTS pg_stat_statements"


@dataclasses.dataclass
class Found:
    """Throughput of the runs of one workload on one server, pair by pair."""

    server: str
    workload: str
    runs: dict = dataclasses.field(default_factory=lambda: {ON: [], OFF: []})


@dataclasses.dataclass
class Cost:
    """What observing a long run took: cores of client and server, and bytes of its record."""

    server: str
    seconds: int
    client_cores: float
    server_cores: float
    series: int
    series_bytes: int
    record_bytes: int
    # Bytes of the record by part, and what of all of them is of the time and not of every record.
    parts: dict = dataclasses.field(default_factory=dict)
    growing_bytes: int = 0


@dataclasses.dataclass
class Share:
    """What observing takes of a host that is full: cores of client and server, of all that it has."""

    server: str
    workload: str
    client_cores: float
    server_cores: float
    cores: int


class Server:
    """One server."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        self.name = target.server_version(clients.target, clients.secrets)
        self.sources = SOURCES | ({STATEMENTS} if plan.is_own else set())
        if plan.is_own and clients.target.driver == "pgsql":
            target.query(clients.target, clients.secrets, EXTENSION)
        self.tpcc = Tpcc(clients.programs.tidemark, clients.target, clients.folder)

    @contextlib.contextmanager
    def tables(self):
        """The tables of both workloads, made and dropped again."""
        clients, plan = self.clients, self.plan
        refuse_existing(clients, [*table_names(plan.run_size), *TABLES])
        with contextlib.ExitStack() as stack:
            stack.enter_context(dropping(lambda: clients.cleanup(TIDEMARK, plan.run_size)))
            clients.prepare(TIDEMARK, plan.run_size, plan.load_threads)
            if TPCC in plan.workloads:
                stack.enter_context(dropping(lambda: self.tpcc.cleanup(plan.warehouses)))
                self.tpcc.prepare(plan.warehouses, plan.load_threads)
            yield

    def pairs(self, workload):
        """Each of four runs, two of a kind around two of the other, and every second one the other
        way round: a machine that grows faster or slower meanwhile favours neither."""
        found = Found(self.name, workload)
        # The server's caches are warm for the first pair, too.
        self._run(OFF, workload)
        for number in range(self.plan.pairs):
            outer, inner = (ON, OFF) if number % 2 == 0 else (OFF, ON)
            rates = {outer: [], inner: []}
            for what in (outer, inner, inner, outer):
                rates[what].append(self._run(what, workload))
            for what, both in rates.items():
                found.runs[what].append(statistics.mean(both))
            self.say(report.pair_line(found))
        return found

    def _run(self, what, workload):
        """One run's throughput."""
        plan = self.plan
        if workload == TPCC:
            mix = self.tpcc.run(plan.warehouses, plan.sessions, plan.seconds, OBSERVE[what])
            return mix.transactions / mix.elapsed_s
        done = self.clients.run_with(
            TIDEMARK, workload, plan.run_size, plan.sessions, plan.seconds, OBSERVE[what]
        )
        return summary(done.stdout)[1]

    def cost(self):
        """A long run with next to no load, with everything observed."""
        plan, clients = self.plan, self.clients
        store = pathlib.Path(clients.folder, "long.db")
        out = pathlib.Path(clients.folder, "long.json")
        options = [f"--rate={QUIET_RATE}", f"--store={store}", f"--out={out}", OBSERVE[ON]]
        clients.run_with(
            TIDEMARK, POINT_SELECT, plan.run_size, plan.sessions, plan.long_seconds, *options
        )
        text = out.read_text()
        record = json.loads(text)
        found = sizes_of(text)
        sampled = {o["source"] for o in record["observed"] if o["sampled"]}
        if not self.sources <= sampled:
            raise BenchError(f"not observed: {', '.join(sorted(self.sources - sampled))}")
        with contextlib.closing(sqlite3.connect(store)) as db:
            series, stored = db.execute(
                "SELECT count(DISTINCT source || name || labels), sum(length(detail)) FROM series"
            ).fetchone()
            client, server = observing_cores(db)
            cost = Cost(
                server=self.name,
                seconds=plan.long_seconds,
                client_cores=client,
                server_cores=server,
                series=series,
                series_bytes=stored,
                record_bytes=len(text.encode()),
                parts=found.parts,
                growing_bytes=found.growing,
            )
        self.say(report.cost_line(cost))
        return cost

    def compared(self):
        """A run with everything observed, the server's own totals around it, and what observing took
        of it."""
        plan, clients = self.plan, self.clients
        store = pathlib.Path(clients.folder, "totals.db")
        out = pathlib.Path(clients.folder, "totals.json")
        counted = totals.Counted(clients)
        before = counted.now()
        options = [f"--store={store}", f"--out={out}", OBSERVE[ON]]
        clients.run_with(
            TIDEMARK, READ_WRITE, plan.run_size, plan.sessions, plan.totals_seconds, *options
        )
        totals.settle()
        after = counted.now()
        seconds = json.loads(out.read_text())["totals"]["elapsed_s"]
        with contextlib.closing(sqlite3.connect(store)) as db:
            found = totals.compare(self.name, before, after, db, seconds)
            share = Share(self.name, READ_WRITE, *observing_cores(db), os.cpu_count())
        for one in found:
            self.say(report.compared_line(one))
        self.say(report.share_line(share))
        return found, share


def observing_cores(db):
    """Cores that observing kept busy on the client and in the server."""
    client = mean(db, "client-host", "threads.cpu", "observing")
    return client, mean(db, "server-process", "process.cpu-observing", "")


def mean(db, source, name, label):
    """The mean of a series in a store."""
    found = db.execute(
        "SELECT sum(mean * points) / sum(points) FROM series "
        "WHERE source = ? AND name = ? AND labels LIKE ?",
        (source, name, f"%{label}%"),
    ).fetchone()[0]
    if found is None:
        raise BenchError(f"the run has no series {name} of {source}")
    return found


def measure(programs, urls, plan, say):
    """The pairs of each workload on each server, what observing takes there, and how near what it
    samples is to the server's totals."""
    all_found, costs, compared, shares = [], [], [], []
    for driver, url in urls.items():
        with contextlib.ExitStack() as stack:
            clients = stack.enter_context(reached(programs, url, driver))
            server = Server(clients, plan, say)
            say(f"\n{server.name}")
            stack.enter_context(server.tables())
            all_found += [server.pairs(workload) for workload in plan.workloads]
            found, share = server.compared()
            compared += found
            shares.append(share)
            costs.append(server.cost())
    return all_found, costs, compared, shares
