"""The server's own bulk path: ready-made files, read by the server's own client.

Tables and indexes are those that Tidemark made, as the server describes them. Files of the largest
tables go first, several at a time; a table's indexes are made as soon as its last file is read.
"""

import os
import pathlib
import re
import subprocess
import threading
import time

from vs_sysbench import clients
from vs_sysbench import target as vs
from vs_sysbench.clients import TIDEMARK
from vs_sysbench.command import dropping
from vs_sysbench.errors import BenchError

LIMIT_S = 3600
KEY = re.compile(r"^(?:UNIQUE )?KEY `")


def load_in_turn(loads, reverse, ours, native, theirs, look):
    """A load by Tidemark and one by the server's own client, added to `loads`. `ours` is how the one
    is made and dropped, `theirs` the other's files and threads; `look` looks at the other's tables."""
    rows = {}
    for who in reversed(list(loads)) if reverse else loads:
        if who == TIDEMARK:
            make, drop = ours
            done = make()
            loads[who].append(clients.sample(done, 1, 1 / done.wall_s))
            rows[who] = native.rows()
            drop()
        else:
            with dropping(native.drop):
                seconds = native.load(*theirs)
                rows[who] = native.rows()
                look()
            loads[who].append(clients.Sample(1, 1 / seconds, 0.0, 0.0, 0, seconds))
    if len(set(rows.values())) != 1:
        raise BenchError(f"the loads differ in {', '.join(native.tables)}: {rows}")


class NativeLoader:
    """psql or the mariadb client, for tables of these names; rows are compared by the expressions of
    `also` too."""

    def __init__(self, server, secrets, tables, also=()):
        self.server, self.secrets = server, secrets
        self.tables, self.also = tables, also
        self.is_mysql = server.driver == "mysql"
        self.create, self.indexes = {}, {}

    def learn(self):
        """Reads tables and indexes off the tables that are there."""
        for table in self.tables:
            learn = self._learn_mysql if self.is_mysql else self._learn_postgres
            self.create[table], self.indexes[table] = learn(table)

    def drop(self):
        """Drops the tables that `load` made."""
        self._sql("".join(f"DROP TABLE IF EXISTS {table};" for table in reversed(self.tables)))

    def load(self, folder, threads):
        """Makes the tables, reads the files, makes the indexes; the seconds it took."""
        begun = time.monotonic()
        self._sql("".join(self.create.values()))
        jobs = Jobs(files(folder, self.tables), self._read, self._index)
        jobs.run(threads)
        return time.monotonic() - begun

    def rows(self):
        """Rows of each table, and what else is compared."""
        counts = [f"(SELECT COUNT(*) FROM {table})" for table in self.tables]
        counts = ", ".join([*counts, *(f"({select})" for select in self.also)])
        separator = "', '"
        sql = f"SELECT CONCAT_WS({separator}, {counts})"
        return vs.query(self.server, self.secrets, sql)[0]

    def _read(self, table, path):
        if self.is_mysql:
            self._sql(
                f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE {table} FIELDS TERMINATED BY ',' "
                "OPTIONALLY ENCLOSED BY '\"' ESCAPED BY ''"
            )
        else:
            self._sql(f"\\copy {table} FROM '{path}' WITH (FORMAT csv, NULL 'NULL')")

    def _index(self, table):
        if self.indexes[table]:
            self._sql(self.indexes[table])

    def _learn_mysql(self, table):
        lines = "\\n".join(vs.query(self.server, self.secrets, f"SHOW CREATE TABLE {table}"))
        # The client writes a line's end as two characters.
        text = lines.split("\t", 1)[1].replace("\\n", "\n")
        return mysql_schema(table, text)

    def _learn_postgres(self, table):
        return tuple(self._dump(table, section) for section in ("pre-data", "post-data"))

    def _dump(self, table, section):
        command = [vs.program("pg_dump"), *vs.pg_options(self.server), "--schema-only"]
        command += [f"--section={section}", "--no-owner", "--no-comments", f"--table={table}"]
        done = _call([*command, self.server.database], vs.pg_environment(self.secrets))
        return statements(done)

    def _sql(self, text):
        if self.is_mysql:
            command = [vs.program("mariadb", "mysql"), f"--defaults-file={self.secrets.mariadb}"]
            command += [f"--host={self.server.host}", f"--port={self.server.port}"]
            command += ["--protocol=tcp", f"--user={self.server.user}", "--local-infile=1"]
            _call([*command, f"--execute={text}", self.server.database], None)
        else:
            command = [vs.program("psql"), "-Xq", "-v", "ON_ERROR_STOP=1"]
            command += [*vs.pg_options(self.server), "-d", self.server.database, "-c", text]
            _call(command, vs.pg_environment(self.secrets))


def _call(command, env):
    done = subprocess.run(
        command,
        env=env or dict(os.environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def mysql_schema(table, text):
    """Of SHOW CREATE TABLE: the table with its primary key, and what adds its other keys."""
    lines = [line.strip().rstrip(",") for line in text.splitlines()]
    keys = [line for line in lines[1:-1] if KEY.match(line)]
    kept = [line for line in lines[1:-1] if line not in keys]
    # A comment would be Tidemark's mark on a table that is not its own.
    end = re.sub(r" COMMENT='(?:[^']|'')*'", "", lines[-1])
    create = f"{lines[0]} {', '.join(kept)} {end};"
    added = ", ".join(f"ADD {key}" for key in keys)
    return create, f"ALTER TABLE {table} {added};" if keys else ""


def statements(dump):
    """Of pg_dump's text: what makes tables, keys and indexes, without settings and psql's own."""
    lines = [line for line in dump.splitlines() if line and not line.startswith(("--", "\\"))]
    found = [part.strip() for part in "\n".join(lines).split(";\n")]
    makes = ("CREATE TABLE", "CREATE INDEX", "CREATE UNIQUE INDEX", "ALTER TABLE")
    return "".join(part.rstrip(";") + ";" for part in found if part.startswith(makes))


def files(folder, tables):
    """Table -> its files, `DATABASE.TABLE.NUMBER.csv`; the largest table first."""
    found = {table: [] for table in tables}
    for path in sorted(pathlib.Path(folder).glob("*.csv")):
        table = path.name.split(".")[-3]
        if table not in found:
            raise BenchError(f"{path} is of no table that is known")
        found[table].append(path)
    if not all(found.values()):
        raise BenchError(f"{folder} has no files of {[t for t, f in found.items() if not f]}")
    size = {table: sum(path.stat().st_size for path in paths) for table, paths in found.items()}
    return dict(sorted(found.items(), key=lambda item: -size[item[0]]))


class Jobs:
    """Files to read, and after a table's last one its indexes to make, by several threads."""

    def __init__(self, found, read, index):
        self.read, self.index = read, index
        self.todo = [(table, path) for table, paths in found.items() for path in paths]
        self.left = {table: len(paths) for table, paths in found.items()}
        self.lock = threading.Lock()
        self.failure = None

    def run(self, threads):
        """Does them all; the first error ends it."""
        workers = [threading.Thread(target=self._work) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if self.failure:
            raise self.failure

    def _work(self):
        while True:
            with self.lock:
                if self.failure or not self.todo:
                    return
                table, path = self.todo.pop(0)
            try:
                self.read(table, path)
                with self.lock:
                    self.left[table] -= 1
                    last = self.left[table] == 0
                if last:
                    self.index(table)
            except (BenchError, subprocess.TimeoutExpired, OSError) as error:
                with self.lock:
                    self.failure = self.failure or error
