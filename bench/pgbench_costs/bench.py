"""What is run on which server."""

import dataclasses
import os
import pathlib

from session_costs.bench import reached
from vs_sysbench import clients as vs
from vs_sysbench import target
from vs_sysbench.clients import GRACE_S, LOAD_LIMIT_S, PGBENCH, TIDEMARK
from vs_sysbench.command import dropping, refuse_existing
from vs_sysbench.errors import BenchError
from vs_sysbench.launch import measure as launched

from . import report

TABLES = ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"]
SCRIPTS = ("select-only", "tpcb-like")


@dataclasses.dataclass
class Found:
    """What was found."""

    server: str
    settings: str = ""
    # By script and clients, the runs of each client program.
    runs: dict = dataclasses.field(default_factory=dict)


class Server:
    """The server and its clients."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        server = clients.target
        settings = ", ".join(target.server_settings(server, clients.secrets))
        self.found = Found(target.server_version(server, clients.secrets), settings)
        self.folder = pathlib.Path(clients.folder)

    def pairs(self):
        """Both programs in turn, script by script."""
        with dropping(self._drop):
            self._pgbench(["-i", "-q", "-s", str(self.plan.scale)], LOAD_LIMIT_S)
            for name in SCRIPTS:
                for clients in self.plan.clients:
                    runs = {TIDEMARK: [], PGBENCH: []}
                    self.found.runs[(name, clients)] = runs
                    for number in range(self.plan.pairs):
                        order = (TIDEMARK, PGBENCH) if number % 2 == 0 else (PGBENCH, TIDEMARK)
                        for who in order:
                            runs[who].append(self._run(who, name, clients))
                        self.say(report.pair_line(name, clients, runs))

    def _drop(self):
        # Nobody else's: those that were there before were refused.
        server = self.clients
        target.query(server.target, server.secrets, f"DROP TABLE IF EXISTS {', '.join(TABLES)}")

    def _run(self, who, name, clients):
        plan = self.plan
        threads = min(clients, os.cpu_count() or 1)
        words = ["-n", "-b", name, "-M", "prepared", "-c", str(clients), "-T", str(plan.seconds)]
        words += ["-j", str(threads)]
        run = self._tidemark if who == TIDEMARK else self._pgbench
        done = run(words, plan.seconds + GRACE_S)
        return vs.sample(done, *vs.parse.pgbench(done.stdout))

    def _tidemark(self, words, limit_s):
        words = [*words, f"--scheduling={self.plan.scheduling}"]
        env = {**self.clients.env, "PGPASSWORD": self.clients.target.password}
        return self._done([self.clients.programs.tidemark, "pgbench"], words, limit_s, env)

    def _pgbench(self, words, limit_s):
        env = target.pg_environment(self.clients.secrets)
        return self._done([target.program("pgbench")], words, limit_s, env)

    def _done(self, program, words, limit_s, env):
        server = self.clients.target
        command = [*program, *target.pg_options(server), *words, server.database]
        done = launched(command, limit_s, env=env, cwd=self.folder)
        if done.status != 0:
            what = " ".join(str(part) for part in command)
            raise BenchError(f"{what} ended with {done.status}\n{done.stdout}{done.stderr}")
        return done


def measure(programs, url, plan, say):
    """The pairs; what was found."""
    with reached(programs, url, "pgsql") as clients:
        refuse_existing(clients, TABLES)
        server = Server(clients, plan, say)
        say(f"\n{server.found.server}")
        server.pairs()
        return server.found
