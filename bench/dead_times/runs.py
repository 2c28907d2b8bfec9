"""Runs of which a part is dead."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import time

from vs_sysbench.errors import BenchError

ENGINES = ("mariadb", "postgres", "sqlite")
SIDES = ("server", "client")
#: Which server of scripts/servers is which engine's.
DRIVERS = {"mariadb": "mysql", "postgres": "pgsql"}
ROWS = 1000
SESSIONS = 4


class Runs:
    """Runs on one engine."""

    def __init__(self, program, engine, servers, folder, plan):
        self.program, self.engine, self.servers = program, engine, servers
        self.folder, self.plan = folder, plan
        self.file = folder / "dead.db"
        self.out = folder / "run.json"

    def _url(self):
        if self.engine == "sqlite":
            return f"sqlite:{self.file}"
        return self.servers.urls[DRIVERS[self.engine]]

    def _command(self, *words):
        # A point select asks SQLite for no lock that another process holds.
        workload = "oltp_update_index" if self.engine == "sqlite" else "oltp_point_select"
        return [str(self.program), "sysbench", workload, f"--target={self._url()}",
                f"--table-size={ROWS}", "--store=off", *words]

    def prepare(self):
        """Loads the table."""
        command = [word for word in self._command("prepare") if word != "--store=off"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env=self._environment())
        if done.returncode != 0:
            raise BenchError(f"prepare failed: {done.stdout}")

    def _environment(self):
        return {**os.environ, "TIDEMARK_STORE": "off"}

    def one(self, side, length):
        """One run of which a side is stopped for so many seconds (none: nothing is stopped): the
        seconds that its findings tell, by rule."""
        command = self._command(f"--time={self.plan.seconds}", f"--threads={SESSIONS}",
                                "--report-interval=1", f"--out={self.out}", "run")
        client = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, env=self._environment())
        said = []
        try:
            for line in client.stdout:
                said.append(line)
                if line.startswith("Threads started"):
                    break
            time.sleep(0.5)
            if side is not None:
                self._stop(side, client, length)
            said.append(client.communicate(timeout=self.plan.seconds + length + 60)[0])
        finally:
            if client.poll() is None:
                client.kill()
                client.wait()
        text = "".join(said)
        if client.returncode != 0:
            raise BenchError(f"the run failed ({client.returncode}): {text}")
        return told(text, json.loads(self.out.read_text()))

    def _stop(self, side, client, length):
        if side == "client":
            stopped([client.pid], length)
        elif self.engine == "sqlite":
            self._lock(length)
        else:
            pid = self.servers.pids[DRIVERS[self.engine]]
            stopped([pid, *children(pid)], length)

    def _lock(self, length):
        held = sqlite3.connect(self.file, isolation_level=None, timeout=30)
        try:
            held.execute("BEGIN EXCLUSIVE")
            time.sleep(length)
            held.execute("ROLLBACK")
        finally:
            held.close()


def stopped(pids, length):
    """Stops processes for so many seconds."""
    reached = []
    try:
        for pid in pids:
            # A backend may have ended meanwhile.
            try:
                os.kill(pid, signal.SIGSTOP)
                reached.append(pid)
            except ProcessLookupError:
                pass
        time.sleep(length)
    finally:
        for pid in reached:
            os.kill(pid, signal.SIGCONT)


def children(pid):
    """A server's own processes: PostgreSQL has one a session."""
    found = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], stdout=subprocess.PIPE,
                           text=True)
    return [int(word) for word in found.stdout.split()]


def told(text, record):
    """The rules of dead time that a run's lines name, with the seconds that the record holds for
    their side."""
    sides = {"stall": "target", "client-stopped": "client"}
    dead = record.get("dead_times") or []
    found = {}
    for rule in re.findall(r"^(?:NOTE|SUSPECT|INVALID) \[([a-z-]+)\]", text, re.MULTILINE):
        if rule in sides:
            of_side = [d["length_ms"] for d in dead if d["side"] == sides[rule]]
            found[rule] = sum(of_side) / 1000.0
    return found
