"""How Tidemark is asked for TPC-C, and how its answers are read."""

import itertools
import os
import pathlib

from vs_sysbench import clients as vs
from vs_sysbench.errors import BenchError
from vs_sysbench.launch import measure

from . import parse
from .figures import LINES, Mix

LIMIT_S = 3600
# What a run may take beyond its time to connect and to end.
GRACE_S = 300
DRIVERS = {"mysql": "mysql", "pgsql": "postgres"}


class GoTpc:
    """One of Tidemark's commands with go-tpc's flags, on one server."""

    def __init__(self, workload, program, target, folder):
        self.workload, self.program, self.target = workload, program, target
        self.folder = pathlib.Path(folder)
        password = "MYSQL_PWD" if target.driver == "mysql" else "PGPASSWORD"
        # Its store must not be the user's own, and passwords stand in no process list.
        self.env = {
            **os.environ,
            "TIDEMARK_STORE": str(self.folder / f"{workload}-runs.db"),
            password: target.password,
        }

    def call(self, verb, options, limit_s):
        """Does it; what the process took and said."""
        target = self.target
        command = [self.program, self.workload, "-d", DRIVERS[target.driver], "-H", target.host]
        command += ["-P", str(target.port), "-U", target.user, "-D", target.database]
        command += [*options, verb]
        done = measure(command, limit_s, env=self.env, cwd=self.folder)
        if done.status != 0:
            what = " ".join(str(part) for part in command)
            raise BenchError(f"{what} ended with {done.status}\n{done.stdout}{done.stderr}")
        return done


class Tpcc(GoTpc):
    """`tidemark tpcc`."""

    def __init__(self, program, target, folder):
        super().__init__("tpcc", program, target, folder)
        self.numbers = itertools.count()

    def prepare(self, warehouses, threads):
        """Loads and verifies; what the process took. Conditions are asked by `check`."""
        return self._do("prepare", warehouses, ["-T", str(threads), "--no-check"], LIMIT_S)

    def write_csv(self, warehouses, parts, folder):
        """The same rows as files, so many for each table."""
        options = ["-T", str(parts), "--output-type=csv", f"--output-dir={folder}"]
        self._do("prepare", warehouses, options, LIMIT_S)

    def cleanup(self, warehouses):
        """Drops what Tidemark made."""
        self._do("cleanup", warehouses, [], LIMIT_S)

    def check(self, warehouses, threads):
        """All conditions."""
        done = self._do("check", warehouses, ["-T", str(threads)], LIMIT_S)
        return parse.check(done.stdout)

    def run(self, warehouses, terminals, seconds, *options):
        """A run; what it took and did."""
        done, said = self._run(warehouses, terminals, seconds, [f"--time={seconds}s", *options])
        sample = vs.sample(done, said.statements, said.statements / said.elapsed_s)
        return Mix(sample, said.transactions, said.new_orders, said.elapsed_s, said.errors)

    def one_new_order(self, warehouses, seed, how):
        """A single New-Order of that seed; its statements, or None unless it has `LINES` lines and
        is not rolled back."""
        options = ["--count=1", "--weight=100,0,0,0,0", f"--seed={seed}", f"--statements={how}"]
        _, said = self._run(warehouses, 1, 0, options)
        if said.new_orders != 1 or said.errors:
            raise BenchError(f"one New-Order was asked for: {said}")
        return said.statements if (said.lines, said.rolled_back) == (LINES, 0) else None

    def _run(self, warehouses, terminals, seconds, options):
        out = self.folder / f"tpcc-{next(self.numbers)}.json"
        options = ["-T", str(terminals), f"--out={out}", "--interval=0", *options]
        done = self._do("run", warehouses, options, seconds + GRACE_S)
        return done, parse.record(out.read_text())

    def _do(self, verb, warehouses, options, limit_s):
        return self.call(verb, ["--warehouses", str(warehouses), *options], limit_s)
