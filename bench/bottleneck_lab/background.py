"""Sessions beside the load: locks that are held, transactions that stay open, waits that are
counted."""

import subprocess
import threading

from vs_sysbench.errors import BenchError


class Session:
    """A client that holds a session while its `with` lasts."""

    def __init__(self, server, database):
        self.server, self.database = server, database
        self.process = self.number = None

    def __enter__(self):
        command, env = self.server.client(self.database)
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        mysql = self.server.driver == "mysql"
        self.number = int(self.ask("SELECT CONNECTION_ID()" if mysql else "SELECT pg_backend_pid()"))
        return self

    def ask(self, statement):
        """A statement's first line."""
        self.process.stdin.write(statement + ";\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.kill()
            raise BenchError(f"{statement}: {self.process.communicate()[1].strip()}")
        return line.strip()

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()
        # The server would notice when the statement ends.
        if self.server.driver == "mysql":
            command = f"KILL {self.number}"
        else:
            command = f"SELECT pg_terminate_backend({self.number})"
        try:
            self.server.sql(command)
        except BenchError:
            # It has noticed.
            pass


class HeldLock:
    """A table locked for a while, again and again."""

    def __init__(self, server, database, held_s, free_s):
        self.session = Session(server, database)
        self.held_s, self.free_s, self.rounds = held_s, free_s, 0
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._go_on, daemon=True)
        if server.driver == "mysql":
            self.lock = "LOCK TABLES sbtest1 WRITE; SELECT 1"
            self.free = "UNLOCK TABLES; SELECT 1"
        else:
            self.lock = "BEGIN; LOCK TABLE sbtest1 IN ACCESS EXCLUSIVE MODE; SELECT 1"
            self.free = "COMMIT; SELECT 1"

    def _go_on(self):
        try:
            while not self.ending.wait(self.free_s):
                self.session.ask(self.lock)
                self.ending.wait(self.held_s)
                self.session.ask(self.free)
                self.rounds += 1
        except (BenchError, OSError, ValueError):
            # Its session was ended while it waited for the lock.
            pass

    def __enter__(self):
        self.session.__enter__()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join(timeout=5)
        self.session.__exit__()
        self.thread.join()


UPKEEP_EVERY_S = 2.0


class Upkeep:
    """What a server does for its tables now and then: a vacuum, a sum of all rows."""

    def __init__(self, server, database):
        self.session = Session(server, database)
        self.sql = "CHECKSUM TABLE sbtest1" if server.driver == "mysql" else \
            "VACUUM ANALYZE sbtest1; SELECT 1"
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._go_on, daemon=True)

    def _go_on(self):
        try:
            while not self.ending.wait(UPKEEP_EVERY_S):
                self.session.ask(self.sql)
        except (BenchError, OSError, ValueError):
            pass

    def __enter__(self):
        self.session.__enter__()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join(timeout=5)
        self.session.__exit__()
        self.thread.join()


# Sessions that wait for what is asked now.
WAITING = {
    "row-lock": {
        "mysql": "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'",
        "pgsql": "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
    },
    # MariaDB's latches are held by whoever is on a processor: with few of those, nobody waits.
    "growth": {"pgsql": "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'extend'"},
}
SAMPLE_EVERY_S = 0.2


class Waits:
    """How many sessions wait, looked at several times a second."""

    def __init__(self, server, kind):
        self.session = Session(server, "sbtest")
        self.sql = WAITING[kind][server.driver]
        self.seen = []
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self._go_on, daemon=True)

    def _go_on(self):
        try:
            while not self.ending.wait(SAMPLE_EVERY_S):
                self.seen.append(int(self.session.ask(self.sql)))
        except (BenchError, OSError, ValueError):
            pass

    def mean(self):
        """Of the looks so far."""
        return sum(self.seen) / len(self.seen) if self.seen else 0.0

    def __enter__(self):
        self.session.__enter__()
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join(timeout=5)
        self.session.__exit__()
        self.thread.join()
