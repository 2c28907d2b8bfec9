"""A pgbouncer of this benchmark's own in front of a PostgreSQL server."""

import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

from vs_sysbench import target
from vs_sysbench.errors import BenchError

ACCOUNT = "postgres"
DATABASE = "bench"
# Server sessions that all the others share.
POOL = 16


def find():
    """The program's path; Debian keeps it where only root looks."""
    path = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if not path:
        raise BenchError(
            "pgbouncer is not installed; on Debian: "
            "apt-get install --no-install-recommends pgbouncer"
        )
    return path


def version():
    """Its first line about itself."""
    done = subprocess.run([find(), "--version"], capture_output=True, text=True, timeout=30)
    return done.stdout.splitlines()[0] if done.stdout else "PgBouncer"


def configuration(server, folder, port, sessions):
    """The text of pgbouncer.ini (https://www.pgbouncer.org/config.html).

    md5 between client and pool: with SCRAM, pgbouncer derives the key anew for each session, which
    takes it milliseconds in its one thread. Towards the server it does what the server asks for.
    """
    return "\n".join(
        [
            "[databases]",
            f"{DATABASE} = host={server.host} port={server.port} dbname={server.database}",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            f"listen_port = {port}",
            "listen_backlog = 4096",
            "unix_socket_dir =",
            "auth_type = md5",
            f"auth_file = {folder}/users",
            "pool_mode = transaction",
            f"default_pool_size = {POOL}",
            f"max_client_conn = {sessions + 50}",
            f"logfile = {folder}/log",
            "log_connections = 0",
            "log_disconnections = 0",
            "",
        ]
    )


def users(server):
    """The line of its file of accounts."""
    parts = (part.replace('"', '""') for part in (server.user, server.password))
    return " ".join(f'"{part}"' for part in parts)


class PgBouncer:
    """Starts it with `with`, and ends it; `server` is how to reach PostgreSQL through it."""

    def __init__(self, behind, sessions):
        self.behind, self.sessions = behind, sessions
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-pgbouncer."))
        self.process, self.server = None, None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        port = _free_port()
        self.server = target.Target(
            "pgsql", "127.0.0.1", port, self.behind.user, self.behind.password, DATABASE
        )
        target.write_secret(self.folder / "users", [users(self.behind)])
        ini = configuration(self.behind, self.folder, port, self.sessions)
        target.write_secret(self.folder / "ini", ini.splitlines())
        command = [find(), str(self.folder / "ini")]
        if os.getuid() == 0:
            # It refuses to run as root.
            account = pwd.getpwnam(ACCOUNT)
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, account.pw_uid, account.pw_gid)
            command[1:1] = ["-u", ACCOUNT]
        said = open(self.folder / "said", "w")
        with said:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder
            )
        self._await()

    def _await(self):
        with tempfile.TemporaryDirectory(prefix="tidemark-bench.") as folder:
            secrets, wrong = target.Secrets(self.server, folder), ""
            for _ in range(100):
                if self.process.poll() is not None:
                    break
                try:
                    target.query(self.server, secrets, "SELECT 1")
                    return
                except BenchError as error:
                    wrong = str(error)
                time.sleep(0.1)
        raise BenchError(f"pgbouncer did not start: {wrong}\n{(self.folder / 'said').read_text()}")

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            # SIGTERM: at once, whoever is still connected.
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
