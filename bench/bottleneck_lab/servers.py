"""A server of the laboratory's own: its settings, its tables, a little SQL."""

import contextlib
import dataclasses
import os
import pathlib
import re
import subprocess
import urllib.parse

from vs_sysbench import machine, target
from vs_sysbench.errors import BenchError

from .limits import family

ENGINES = ("mariadb", "postgres")
DRIVERS = {"mariadb": "mysql", "postgres": "pgsql"}
# Of the cache: all tables fit.
CACHE_MB = 256
LIMIT_S = 120
# Pages are read and written by calls that a preloaded library sees.
ALWAYS = {"mariadb": ("innodb-use-native-aio=0",), "postgres": ()}


@dataclasses.dataclass(frozen=True)
class Tables:
    """Sysbench's tables in a database of their own: loaded once, then used by many runs."""

    database: str
    count: int
    rows: int
    #: What loads and runs are told beside it.
    more: tuple = ()

    def options(self):
        """How Tidemark is told of them."""
        return [f"--tables={self.count}", f"--table-size={self.rows}", *self.more]


class Server:
    """One server, started anew when other settings are asked for."""

    def __init__(self, engine, folder, slow_disk, tidemark, say):
        self.engine, self.driver = engine, DRIVERS[engine]
        self.folder, self.slow_disk, self.tidemark = pathlib.Path(folder), slow_disk, tidemark
        self.say = say
        self.settings = self.url = self.pid = self.secrets = self.target = None
        self.loaded = set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(keep=False)

    # ---- starting and stopping ---------------------------------------------------------------

    def with_settings(self, settings):
        """Sees to it that it runs with just these settings of its own (`name=value`)."""
        settings = tuple(settings)
        if self.url is not None and self.settings == settings:
            return
        self.stop(keep=True)
        command = [machine.SERVERS, "start", str(self.folder), f"--{self.engine}"]
        command += [f"--{self.engine}-set={setting}" for setting in (*ALWAYS[self.engine], *settings)]
        env = {**os.environ, **self.slow_disk.environment(),
               "TIDEMARK_BENCH_CACHE_MB": str(CACHE_MB)}
        said = self._script(command, env)
        name = "MYSQL" if self.engine == "mariadb" else "POSTGRES"
        url = re.search(rf"TIDEMARK_TEST_{name}_URL='([^']+)'", said)
        pid = re.search(rf"TIDEMARK_{name}_PID='(\d+)'", said)
        if not url or not pid:
            raise BenchError(f"scripts/servers told nothing of its {self.engine}")
        self.settings, self.url, self.pid = settings, url[1], int(pid[1])
        self.target = target.from_url(self.url, self.driver)
        if self.secrets is None:
            # The password is always the same.
            home = self.folder.with_name(f"{self.folder.name}-secrets")
            home.mkdir(mode=0o700)
            self.secrets = target.Secrets(self.target, home)

    def stop(self, keep):
        """Stops it, if it runs; its files stay for the next start if `keep`."""
        if self.url is None and (keep or not self.folder.exists()):
            return
        self.url = self.pid = None
        command = [machine.SERVERS, "stop", str(self.folder)]
        self._script(command + ["--keep"] if keep else command, None)

    @staticmethod
    def _script(command, env):
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)} failed\n{done.stdout}{done.stderr}")
        return done.stdout

    # ---- what is known of it -----------------------------------------------------------------

    def pids(self):
        """Its processes."""
        return family(self.pid)

    def address(self):
        """Where it listens."""
        return f"{self.target.host}:{self.target.port}"

    def url_of(self, database, port=None):
        """The URL of one of its databases, through a proxy if it has another port."""
        parts = urllib.parse.urlsplit(self.url)
        netloc = parts.netloc if port is None else parts.netloc.replace(
            f":{self.target.port}", f":{port}")
        return parts._replace(netloc=netloc, path=f"/{database}").geturl()

    def sql(self, text, database="sbtest"):
        """The lines that a statement returns."""
        return target.query(dataclasses.replace(self.target, database=database), self.secrets, text)

    def client(self, database):
        """The command of a client that reads statements from its standard input, unbuffered, and
        its environment."""
        t = self.target
        if self.driver == "mysql":
            return [target.program("mariadb", "mysql"), f"--defaults-file={self.secrets.mariadb}",
                    f"--host={t.host}", f"--port={t.port}", "--protocol=tcp", f"--user={t.user}",
                    "--batch", "--unbuffered", "--skip-column-names", database], None
        return [target.program("psql"), "-XqAt", *target.pg_options(t), "-d", database], \
            target.pg_environment(self.secrets)

    def counters(self):
        """Its counters, by name."""
        if self.driver == "mysql":
            pairs = (line.split("\t") for line in self.sql("SHOW GLOBAL STATUS"))
            return {pair[0].lower(): float(pair[1]) for pair in pairs
                    if len(pair) == 2 and re.fullmatch(r"-?\d+(\.\d+)?", pair[1])}
        return {name: float(value) for name, value in
                (line.split("|") for line in self.sql(POSTGRES_COUNTERS))}

    # ---- tables ------------------------------------------------------------------------------

    def load(self, tables):
        """Loads tables, unless they are there."""
        if tables in self.loaded:
            return
        self.say(f"{self.engine}: loading {tables.count} × {tables.rows:,} rows")
        with contextlib.suppress(BenchError):
            self.sql(f"CREATE DATABASE {tables.database}")
        self._prepare(tables)
        if self.driver == "pgsql":
            # What a new server would do a minute later, in the middle of a run.
            self.sql("VACUUM ANALYZE", tables.database)
            self.sql("CHECKPOINT")
        self.loaded.add(tables)

    def _prepare(self, tables):
        command = [str(self.tidemark), "sysbench", "oltp_read_write",
                   f"--target={self.url_of(tables.database)}", *tables.options(), "--threads=2",
                   "--replace", "prepare"]
        env = {**os.environ, "TIDEMARK_STORE": "off"}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            raise BenchError(f"loading {tables.database} failed\n{done.stdout}{done.stderr}")


# Their backends report them when a session ends, and once a second at most while it does not.
POSTGRES_COUNTERS = """
SELECT 'commits', sum(xact_commit) FROM pg_stat_database
UNION ALL SELECT 'deadlocks', sum(deadlocks) FROM pg_stat_database
UNION ALL SELECT 'blocks_read', sum(blks_read) FROM pg_stat_database
UNION ALL SELECT 'rows_scanned', sum(tup_returned) FROM pg_stat_database
UNION ALL SELECT 'sessions', sum(sessions) FROM pg_stat_database
UNION ALL SELECT 'checkpoints_requested', checkpoints_req FROM pg_stat_bgwriter
"""
