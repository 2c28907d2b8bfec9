"""What is run on which server."""

import contextlib
import dataclasses
import pathlib
import shutil

from session_costs.bench import PATIENCE, Bench, reached
from vs_sysbench import target
from vs_sysbench.clients import SYSBENCH, TIDEMARK
from vs_sysbench.command import tables
from vs_sysbench.errors import BenchError
from vs_sysbench.parse import sysbench as parsed

from . import report

# sysbench's own scripts, copied: where the package puts them they stand for built-in workloads.
PACKAGE = pathlib.Path("/usr/share/sysbench")
WORKLOAD = "./oltp_read_write.lua"
MANY_WORKLOAD = "./oltp_point_select.lua"


@dataclasses.dataclass
class Found:
    """What was found on one server."""

    server: str
    settings: str = ""
    # Sessions -> client -> samples.
    pairs: dict = dataclasses.field(default_factory=dict)
    # Sessions -> peak resident bytes, by runs.
    memory: dict = dataclasses.field(default_factory=dict)
    # Sessions and queries a second of the run with very many.
    many: tuple | None = None


def copy_scripts(folder):
    """Puts the package's scripts where the clients run."""
    scripts = sorted(PACKAGE.glob("*.lua"))
    if not scripts:
        raise BenchError(f"{PACKAGE} has no scripts; apt-get install sysbench")
    for script in scripts:
        shutil.copy(script, folder)


class Server:
    """One server and its clients."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        settings = ", ".join(target.server_settings(clients.target, clients.secrets))
        name = target.server_version(clients.target, clients.secrets)
        self.found = Found(name, settings)
        copy_scripts(clients.folder)

    def measure(self):
        """All figures of this server."""
        plan = self.plan
        with tables(self.clients, plan, with_pgbench=False):
            self._run(SYSBENCH, plan.sessions[0])
            for sessions in plan.sessions:
                self._pairs(sessions)
            for sessions in plan.memory_sessions:
                self._memory(sessions)
            if self.clients.target.driver == "mysql":
                self._many()

    def _pairs(self, sessions):
        runs = self.found.pairs[sessions] = {TIDEMARK: [], SYSBENCH: []}
        for number in range(self.plan.pairs):
            names = [TIDEMARK, SYSBENCH]
            for name in names if number % 2 == 0 else reversed(names):
                runs[name].append(self._run(name, sessions))
            self.say(report.pair_line(self.found.server, sessions, runs))

    def _run(self, client, sessions):
        plan = self.plan
        return self.clients.run(client, WORKLOAD, plan.run_size, sessions, plan.seconds)

    def _memory(self, sessions):
        plan = self.plan
        options = [PATIENCE, "--mysql-ignore-errors=all"]
        done = self.clients.run_with(
            TIDEMARK, WORKLOAD, plan.run_size, sessions, plan.memory_seconds, *options
        )
        self.found.memory[sessions] = done.max_rss_bytes
        self.say(f"{sessions} sessions: {done.max_rss_bytes / (1 << 20):.1f} MiB")

    def _many(self):
        plan = self.plan
        options = [f"--connect-rate={plan.connect_rate}", PATIENCE]
        done = self.clients.run_with(
            TIDEMARK, MANY_WORKLOAD, plan.run_size, plan.many, plan.memory_seconds, *options
        )
        self.found.many = (plan.many, parsed(done.stdout)[1], done.max_rss_bytes)
        self.say(f"{plan.many:,} sessions: {self.found.many[1]:,.0f} queries/s")


def settings_of(plan):
    """What servers are given for very many sessions."""
    return Bench(None, None, plan, None).settings()


def measure(programs, urls, plan, say):
    """The figures on each server."""
    all_found = []
    for driver, url in urls.items():
        with contextlib.ExitStack() as stack:
            clients = stack.enter_context(reached(programs, url, driver))
            server = Server(clients, plan, say)
            say(f"\n{server.found.server}")
            server.measure()
            all_found.append(server.found)
    return all_found
