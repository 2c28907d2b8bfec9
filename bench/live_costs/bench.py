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


@dataclasses.dataclass
class Found:
    """Throughput of the runs of one workload on one server, pair by pair."""

    server: str
    workload: str
    runs: dict = dataclasses.field(default_factory=lambda: {ON: [], OFF: []})


class Server:
    """One server with its tables."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        self.name = target.server_version(clients.target, clients.secrets)

    def pairs(self, workload):
        """Every second pair the other way round, so that a drift falls on both alike."""
        found = Found(self.name, workload)
        # The server's caches are warm for the first pair, too.
        self._off(workload)
        for number in range(self.plan.pairs):
            for what in (ON, OFF) if number % 2 == 0 else (OFF, ON):
                run = self._on if what == ON else self._off
                found.runs[what].append(run(workload))
            self.say(report.pair_line(found))
        return found

    def _off(self, workload):
        """No record, no lines, no view."""
        plan = self.plan
        args = (TIDEMARK, workload, plan.run_size, plan.sessions, plan.seconds, "--store=off")
        done = self.clients.run_with(*args)
        return summary(done.stdout)[1]

    def _on(self, workload):
        """A record in the store and in a file, lines every second, and a view."""
        plan, clients = self.plan, self.clients
        out = pathlib.Path(clients.folder, "watched.json")
        options = [
            f"--threads={plan.sessions}",
            f"--time={plan.seconds}",
            f"--out={out}",
            "--report-interval=1",
            "--view=on",
        ]
        command = clients._sysbench(TIDEMARK, workload, plan.run_size, "run", options)
        command = [str(part) for part in command]
        limit_s = plan.seconds + GRACE_S
        shown = terminal.run(command, limit_s, env=clients.env, cwd=clients.folder)
        if shown.status != 0 or not shown.had_view:
            text = shown.written.decode(errors="replace")
            raise BenchError(
                f"{' '.join(command)} ended with {shown.status}, "
                f"{'with' if shown.had_view else 'without'} a view\n{text}"
            )
        said = parse.record(out.read_text())
        out.unlink()
        return said.statements / said.elapsed_s


def measure(programs, urls, plan, say):
    """The pairs of each workload on each server; what was found."""
    all_found = []
    for driver, url in urls.items():
        with contextlib.ExitStack() as stack:
            clients = stack.enter_context(reached(programs, url, driver))
            server = Server(clients, plan, say)
            say(f"\n{server.name}")
            stack.enter_context(tables(clients, plan, with_pgbench=False))
            all_found += [server.pairs(workload) for workload in plan.workloads]
    return all_found
