"""How each client is asked for the same work, and how its answer is read."""

import dataclasses
import os
import pathlib

from . import parse
from .errors import BenchError
from .figures import Sample
from .launch import measure
from .target import Secrets, Target, pg_environment, pg_options, program

TIDEMARK, SYSBENCH, PGBENCH, BARE = "Tidemark", "sysbench", "pgbench", "bare loop"
# pgbench reads one table: beside it, Tidemark does too. A backend that reads four has four plans
# and four tables' catalogue entries to find in its caches, which is work of the server's.
ONE_TABLE = "Tidemark, 1 table"
# Tidemark that does not leave the processor to a server on the same host; another build of it.
NORMAL, BEFORE = "Tidemark, normal", "Tidemark before"
TIDEMARKS = (TIDEMARK, ONE_TABLE, NORMAL, BEFORE)
# What a client may take beyond its run time to connect and to end.
GRACE_S = 150
LOAD_LIMIT_S = 3600


@dataclasses.dataclass(frozen=True)
class Size:
    """The tables of a workload."""

    tables: int
    rows: int


@dataclasses.dataclass(frozen=True)
class Programs:
    """Where the clients are."""

    tidemark: pathlib.Path
    bare_loop: pathlib.Path
    # Another build of Tidemark, to compare with.
    before: pathlib.Path | None = None


def sample(done, queries, per_second):
    """The sample of a program that has ended."""
    return Sample(
        queries=queries,
        per_second=per_second,
        user_s=done.user_s,
        system_s=done.system_s,
        max_rss_bytes=done.max_rss_bytes,
        wall_s=done.wall_s,
    )


class Clients:
    """The clients of one server."""

    def __init__(self, programs: Programs, target: Target, secrets: Secrets, folder):
        self.programs, self.target, self.secrets = programs, target, secrets
        # Tidemark's store must not be the user's own.
        self.env = {**os.environ, "TIDEMARK_STORE": str(pathlib.Path(folder, "runs.db"))}
        # Nor does an older build read what a newer one wrote.
        self.env_before = {**os.environ, "TIDEMARK_STORE": str(pathlib.Path(folder, "before.db"))}
        self.folder = folder

    def run(self, client, workload, size, sessions, seconds):
        """One run of a workload; its sample."""
        done, reader = self._run(client, workload, size, sessions, seconds)
        try:
            queries, per_second = reader(done.stdout)
            said = native = None
            if client in (SYSBENCH, *TIDEMARKS):
                said = parse.latency(done.stdout, sessions)
            if client in (TIDEMARK, ONE_TABLE, NORMAL):
                native = parse.shown(self._shown(), sessions)
        except BenchError as error:
            raise BenchError(f"{client}: {error}\n{done.stdout}{done.stderr}") from error
        found = sample(done, queries, per_second)
        return dataclasses.replace(found, latency=said, native=native)

    def _shown(self):
        """What Tidemark's own report says of the last run."""
        program_of = self.programs.tidemark
        if pathlib.Path(program_of).name == "sysbench":
            raise BenchError("name the program itself, not a link named sysbench")
        return self._measure(TIDEMARK, [program_of, "show", "last"], GRACE_S, self.env).stdout

    def run_with(self, client, workload, size, sessions, seconds, *options):
        """One run of sysbench or Tidemark with options of its own: what it used and said."""
        options = [f"--threads={sessions}", f"--time={seconds}", *options]
        options += ["--scheduling=normal"] if client == NORMAL else []
        command = self._sysbench(client, workload, size, "run", options)
        env = self.env_before if client == BEFORE else self.env
        return self._measure(client, command, seconds + GRACE_S, env)

    def bare_count(self, rows, size, sessions, seconds):
        """One run of the bare loop whose queries count so many rows; its sample."""
        command = [*self._bare_loop(size, sessions, seconds), f"--count={rows}"]
        done = self._measure(BARE, command, seconds + GRACE_S, self.env)
        return sample(done, *parse.bare_loop(done.stdout))

    def _bare_loop(self, size, sessions, seconds):
        return [
            self.programs.bare_loop,
            f"--url-file={self.secrets.url}",
            f"--sessions={sessions}",
            f"--time={seconds}",
            f"--tables={size.tables}",
            f"--table-size={size.rows}",
        ]

    def _run(self, client, workload, size, sessions, seconds):
        """One run of any client: what it used and said, and how that is read."""
        if client in (SYSBENCH, *TIDEMARKS):
            size = Size(1, size.rows) if client == ONE_TABLE else size
            return self.run_with(client, workload, size, sessions, seconds), parse.sysbench
        if client == PGBENCH:
            threads = min(sessions, os.cpu_count() or 1)
            command = [program("pgbench"), *pg_options(self.target), "-n", "-S", "-M", "prepared"]
            command += ["-c", str(sessions), "-j", str(threads), "-T", str(seconds)]
            command += [self.target.database]
            reader, env = parse.pgbench, pg_environment(self.secrets)
        else:
            command = self._bare_loop(size, sessions, seconds)
            reader, env = parse.bare_loop, self.env
        return self._measure(client, command, seconds + GRACE_S, env), reader

    def prepare(self, client, size, threads):
        """Loads the tables; the sample counts rows as queries."""
        options = [f"--threads={threads}"]
        command = self._sysbench(client, "oltp_read_write", size, "prepare", options)
        done = self._measure(client, command, LOAD_LIMIT_S, self.env)
        rows = size.tables * size.rows
        return sample(done, rows, rows / done.wall_s)

    def cleanup(self, client, size):
        """Drops the tables that this client made."""
        command = self._sysbench(client, "oltp_read_write", size, "cleanup", [])
        self._measure(client, command, LOAD_LIMIT_S, self.env)

    def pgbench_tables(self, steps):
        """Makes (`dtgvp`) or drops (`d`) pgbench's own tables: 100,000 rows."""
        command = [program("pgbench"), *pg_options(self.target), "-i", "-q", "-I", steps]
        command += [self.target.database]
        self._measure(PGBENCH, command, LOAD_LIMIT_S, pg_environment(self.secrets))

    def _sysbench(self, client, workload, size, verb, options):
        if client in TIDEMARKS:
            build = self.programs.before if client == BEFORE else self.programs.tidemark
            command = [build]
            # A link named sysbench behaves as sysbench does.
            if pathlib.Path(build).name != "sysbench":
                command.append("sysbench")
        else:
            command = [program("sysbench")]
        return [
            *command,
            workload,
            f"--config-file={self.secrets.sysbench}",
            f"--tables={size.tables}",
            f"--table-size={size.rows}",
            "--rand-type=uniform",
            *options,
            verb,
        ]

    def _measure(self, client, command, limit_s, env):
        done = measure(command, limit_s, env=env, cwd=self.folder)
        # sysbench ends with 0 when the threads of a parallel prepare failed.
        if done.status != 0 or "FATAL" in done.stdout:
            what = " ".join(str(part) for part in command)
            raise BenchError(
                f"{client} ended with {done.status}: {what}\n{done.stdout}{done.stderr}"
            )
        return done
