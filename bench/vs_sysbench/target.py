"""A server to measure against: its URL, its secrets in files, and a little SQL."""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import urllib.parse

from .errors import BenchError

SCHEMES = {
    "mysql": "mysql",
    "mariadb": "mysql",
    "postgres": "pgsql",
    "postgresql": "pgsql",
}
DEFAULT_PORT = {"mysql": 3306, "pgsql": 5432}


@dataclasses.dataclass(frozen=True)
class Target:
    """One server over TCP. `driver` is sysbench's name of the protocol."""

    driver: str
    host: str
    port: int
    user: str
    password: str = dataclasses.field(repr=False)
    database: str

    @property
    def url(self):
        """The URL, password and all: for a file that only this user can read."""
        scheme = "mysql" if self.driver == "mysql" else "postgres"
        quoted = [urllib.parse.quote(p, safe="") for p in (self.user, self.password, self.database)]
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{quoted[0]}:{quoted[1]}@{host}:{self.port}/{quoted[2]}"


def from_url(url, driver):
    """Reads a URL that must be of the given driver, or `@FILE` with such a URL in the file."""
    name = "mysql" if driver == "mysql" else "postgres"
    example = f"{name}://user:password@127.0.0.1:{DEFAULT_PORT[driver]}/sbtest"
    if url.startswith("@"):
        try:
            url = pathlib.Path(url[1:]).read_text().strip()
        except OSError as error:
            raise BenchError(f"--{name}: {error}") from error
    parts = urllib.parse.urlsplit(url)
    try:
        port = parts.port or DEFAULT_PORT[driver]
    except ValueError:
        port = None
    database = urllib.parse.unquote(parts.path.lstrip("/"))
    if SCHEMES.get(parts.scheme) != driver or not parts.hostname or not port or not database:
        # The URL itself may hold a password: it is not repeated.
        raise BenchError(f"--{name} wants one TCP server's URL with a database, such as {example}")
    user = urllib.parse.unquote(parts.username or "")
    password = urllib.parse.unquote(parts.password or "")
    # sysbench's configuration file ends a value at the first blank and strips quotes.
    if re.search(r"[\s\"']", user + password + database):
        raise BenchError(
            f"--{name}: sysbench can't be given a user, password or database with blanks or quotes"
        )
    return Target(driver, parts.hostname, port, user, password, database)


class Secrets:
    """What the clients need to log in, in files of mode 0600, so that no password stands in a
    process list."""

    def __init__(self, target, folder):
        folder = pathlib.Path(folder, target.driver)
        folder.mkdir(mode=0o700)
        prefix = target.driver
        self.sysbench = write_secret(
            folder / "sysbench.conf",
            [
                f"db-driver={target.driver}",
                f"{prefix}-host={target.host}",
                f"{prefix}-port={target.port}",
                f"{prefix}-user={target.user}",
                f"{prefix}-password={target.password}",
                f"{prefix}-db={target.database}",
            ],
        )
        self.url = write_secret(folder / "url", [target.url])
        # https://mariadb.com/kb/en/configuring-mariadb-with-option-files/
        password = target.password.replace("\\", "\\\\")
        self.mariadb = write_secret(folder / "my.cnf", ["[client]", f'password="{password}"'])
        # https://www.postgresql.org/docs/current/libpq-pgpass.html
        password = target.password.replace("\\", "\\\\").replace(":", "\\:")
        self.pgpass = write_secret(folder / "pgpass", [f"*:*:*:*:{password}"])


def write_secret(path, lines):
    """Lines in a new file that only this user can read."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def pg_options(target):
    """How psql and pgbench are told where to go."""
    return ["-h", target.host, "-p", str(target.port), "-U", target.user]


def pg_environment(secrets):
    """The environment in which libpq finds the password."""
    return {**os.environ, "PGPASSFILE": str(secrets.pgpass), "PGCONNECT_TIMEOUT": "10"}


def query(target, secrets, sql):
    """The first column of the rows that a statement returns, as text."""
    if target.driver == "mysql":
        command = [
            program("mariadb", "mysql"),
            f"--defaults-file={secrets.mariadb}",
            f"--host={target.host}",
            f"--port={target.port}",
            "--protocol=tcp",
            f"--user={target.user}",
            "--batch",
            "--skip-column-names",
            f"--execute={sql}",
            target.database,
        ]
        env = None
    else:
        command = [program("psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", *pg_options(target)]
        command += ["-d", target.database, "-c", sql]
        env = pg_environment(secrets)
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise BenchError(f"{sql}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def program(*names):
    """The path of the first program that is installed."""
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise BenchError(
        f"{names[0]} is not installed; on Debian: apt-get install --no-install-recommends "
        "sysbench mariadb-client postgresql-client postgresql-contrib"
    )


def existing_tables(target, secrets, names):
    """Which of these tables the database has."""
    listed = ", ".join(f"'{name}'" for name in names)
    schema = "DATABASE()" if target.driver == "mysql" else "ANY (current_schemas(false))"
    return query(
        target,
        secrets,
        "SELECT table_name FROM information_schema.tables "
        f"WHERE table_schema = {schema} AND table_name IN ({listed})",
    )


def server_version(target, secrets):
    """Name and version for people."""
    if target.driver == "mysql":
        said = query(target, secrets, "SELECT CONCAT(VERSION(), ' ', @@version_comment)")[0]
        version, _, comment = said.partition(" ")
        name = "MariaDB" if "mariadb" in said.lower() else comment or "MySQL"
        return f"{name} {version.split('-')[0]}"
    return "PostgreSQL " + query(target, secrets, "SHOW server_version")[0].split()[0]


def server_settings(target, secrets):
    """The settings that decide what writes cost and what stays in memory."""
    if target.driver == "mysql":
        names = [
            "innodb_buffer_pool_size",
            "innodb_flush_log_at_trx_commit",
            "sync_binlog",
            "log_bin",
        ]
        return [f"{n}={query(target, secrets, f'SELECT @@{n}')[0]}" for n in names]
    names = ["shared_buffers", "fsync", "synchronous_commit", "max_connections"]
    return [f"{n}={query(target, secrets, f'SHOW {n}')[0]}" for n in names]
