"""What is run on which server."""

import contextlib
import dataclasses
import itertools
import pathlib

from session_costs.bench import reached
from tpcc_costs import parse
from vs_sysbench import clients as vs
from vs_sysbench import target
from vs_sysbench.clients import BARE, GRACE_S, LOAD_LIMIT_S, TIDEMARK
from vs_sysbench.command import dropping, refuse_existing
from vs_sysbench.errors import BenchError
from vs_sysbench.launch import measure as launched

from . import report

TABLE = "usertable"
FIELDS = 10
DATABASES = {"mysql": "mysql", "pgsql": "pg"}
# The bare loop reads the same records by keys that it can write without a hash; they are as long as
# hashed ones.
KEYS = ["-p", "insertorder=ordered", "-p", "zeropadding=19"]


@dataclasses.dataclass
class Found:
    """What was found on one server."""

    driver: str
    server: str
    settings: str = ""
    runs: dict = dataclasses.field(default_factory=lambda: {TIDEMARK: [], BARE: []})


class Server:
    """One server and its clients."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        server = clients.target
        settings = ", ".join(target.server_settings(server, clients.secrets))
        name = target.server_version(server, clients.secrets)
        self.found = Found(server.driver, name, settings)
        self.folder = pathlib.Path(clients.folder)
        password = "MYSQL_PWD" if server.driver == "mysql" else "PGPASSWORD"
        # Passwords stand in no process list.
        self.env = {**clients.env, password: server.password}
        self.numbers = itertools.count()

    def pairs(self):
        """Workload c beside the bare loop, in turn."""
        with dropping(self._drop):
            self._ycsb("load", ["--threads=4"], LOAD_LIMIT_S)
            for number in range(self.plan.pairs):
                for who in (TIDEMARK, BARE) if number % 2 == 0 else (BARE, TIDEMARK):
                    run = self._tidemark() if who == TIDEMARK else self._bare()
                    self.found.runs[who].append(run)
                self.say(report.pair_line(self.found))

    def _drop(self):
        # Nobody else's: one that was there before was refused.
        target.query(self.clients.target, self.clients.secrets, f"DROP TABLE IF EXISTS {TABLE}")

    def _tidemark(self):
        plan, out = self.plan, self.folder / f"ycsb-{next(self.numbers)}.json"
        options = [f"--threads={plan.threads}", f"--time={plan.seconds}", f"--out={out}"]
        options += ["-p", "operationcount=0", "--interval=0"]
        done = self._ycsb("run", options, plan.seconds + GRACE_S)
        said = parse.record(out.read_text())
        if said.errors or said.statements != said.transactions:
            raise BenchError(f"workload c is one SELECT an operation, without errors: {said}")
        return vs.sample(done, said.statements, said.statements / said.elapsed_s)

    def _bare(self):
        plan = self.plan
        command = [
            self.clients.programs.bare_loop,
            f"--url-file={self.clients.secrets.url}",
            f"--sessions={plan.threads}",
            f"--time={plan.seconds}",
            f"--table-size={plan.records}",
            f"--ycsb={FIELDS}",
        ]
        done = self._done(command, plan.seconds + GRACE_S)
        return vs.sample(done, *vs.parse.bare_loop(done.stdout))

    def _ycsb(self, verb, options, limit_s):
        server = self.clients.target
        name = DATABASES[server.driver]
        command = [self.clients.programs.tidemark, "ycsb", verb, name, "-P", "workloadc"]
        for prop, value in {
            "recordcount": self.plan.records,
            "fieldcount": FIELDS,
            f"{name}.host": server.host,
            f"{name}.port": server.port,
            f"{name}.user": server.user,
            f"{name}.db": server.database,
        }.items():
            command += ["-p", f"{prop}={value}"]
        return self._done([*command, *KEYS, *options], limit_s)

    def _done(self, command, limit_s):
        done = launched(command, limit_s, env=self.env, cwd=self.folder)
        if done.status != 0:
            what = " ".join(str(part) for part in command)
            raise BenchError(f"{what} ended with {done.status}\n{done.stdout}{done.stderr}")
        return done


def measure(programs, urls, plan, say):
    """The pairs on each server; what was found."""
    all_found = []
    for driver, url in urls.items():
        with contextlib.ExitStack() as stack:
            clients = stack.enter_context(reached(programs, url, driver))
            refuse_existing(clients, [TABLE])
            server = Server(clients, plan, say)
            say(f"\n{server.found.server}")
            server.pairs()
            all_found.append(server.found)
    return all_found
