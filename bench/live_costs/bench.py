"""Runs that are watched and kept, and runs that are neither, in turn."""

import contextlib
import dataclasses
import pathlib

from session_costs.bench import reached
from tpcc_costs import parse
from vs_sysbench import target
from vs_sysbench.clients import GRACE_S, TIDEMARK
from vs_sysbench.command import tables
from vs_sysbench.errors import BenchError
from vs_sysbench.parse import sysbench as summary

from . import report, terminal
from .report import OFF, ON


# Transactions a second of the runs whose processor time is compared: next to none, for what is
# looked for is what they take beside the load.
QUIET_RATE = 100
QUIET_WORKLOAD = "oltp_point_select"


@dataclasses.dataclass
class Found:
    """Throughput of the runs of one workload on one server, pair by pair."""

    server: str
    workload: str
    runs: dict = dataclasses.field(default_factory=lambda: {ON: [], OFF: []})


@dataclasses.dataclass
class Cost:
    """Processor time of runs with next to no load on one server, pair by pair."""

    server: str
    seconds: float
    cpu_s: dict = dataclasses.field(default_factory=lambda: {ON: [], OFF: []})


class Server:
    """One server with its tables."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        self.name = target.server_version(clients.target, clients.secrets)

    def pairs(self, workload):
        """Every second pair the other way round, so that a drift falls on both alike."""
        found = Found(self.name, workload)
        # The server's caches are warm for the first pair, too.
        self._run(OFF, workload)
        for number in range(self.plan.pairs):
            for what in (ON, OFF) if number % 2 == 0 else (OFF, ON):
                found.runs[what].append(self._run(what, workload)[0])
            self.say(report.pair_line(found))
        return found

    def cost(self):
        """Processor time with and without, in turn, under next to no load."""
        cost = Cost(self.name, self.plan.seconds)
        for number in range(self.plan.cost_pairs):
            for what in (OFF, ON) if number % 2 == 0 else (ON, OFF):
                _, cpu_s = self._run(what, QUIET_WORKLOAD, f"--rate={QUIET_RATE}", "--busy-poll=0")
                cost.cpu_s[what].append(cpu_s)
        self.say(report.cost_line(cost))
        return cost

    def _run(self, what, workload, *more):
        """One run on a terminal, with everything that watches and keeps it or with none of it:
        queries a second, and processor time."""
        plan, clients = self.plan, self.clients
        out = pathlib.Path(clients.folder, "watched.json")
        on = [f"--out={out}", "--report-interval=1", "--view=on"]
        options = [f"--threads={plan.sessions}", f"--time={plan.seconds}", *more]
        options += on if what == ON else ["--store=off", "--view=off"]
        command = clients._sysbench(TIDEMARK, workload, plan.run_size, "run", options)
        command = [str(part) for part in command]
        limit_s = plan.seconds + GRACE_S
        shown = terminal.run(command, limit_s, env=clients.env, cwd=clients.folder)
        if shown.status != 0 or shown.had_view != (what == ON):
            raise BenchError(
                f"{' '.join(command)} ended with {shown.status}, "
                f"{'with' if shown.had_view else 'without'} a view\n{shown.text}"
            )
        if what == ON:
            # A run that was not kept would be no run of these.
            parse.record(out.read_text())
            out.unlink()
        return summary(shown.said)[1], shown.cpu_s


def measure(programs, urls, plan, say):
    """The pairs of each workload on each server; what was found, and what it costs."""
    all_found, costs = [], []
    for driver, url in urls.items():
        with contextlib.ExitStack() as stack:
            clients = stack.enter_context(reached(programs, url, driver))
            server = Server(clients, plan, say)
            say(f"\n{server.name}")
            stack.enter_context(tables(clients, plan, with_pgbench=False))
            all_found += [server.pairs(workload) for workload in plan.workloads]
            costs.append(server.cost())
    return all_found, costs
