"""A NATS server, agents, and a way between them that can be cut."""

import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from vs_sysbench.errors import BenchError

LIMIT_S = 120


def wait_for(what, found, limit_s=LIMIT_S):
    """Waits until `found()` gives something, which is returned."""
    end = time.monotonic() + limit_s
    while True:
        value = found()
        if value:
            return value
        if time.monotonic() > end:
            raise BenchError(f"{what} did not come within {limit_s} s")
        time.sleep(0.05)


class Nats:
    """A nats-server at a port of its own, which can be killed and started again."""

    def __init__(self):
        program = shutil.which("nats-server") or "/usr/sbin/nats-server"
        if not pathlib.Path(program).exists():
            raise BenchError("nats-server was not found; Debian: apt-get install nats-server")
        self.program, self.process = program, None
        self.folder = tempfile.mkdtemp(prefix="tidemark-bench-nats.")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self):
        """Starts it, with the files that it left."""
        self.process = subprocess.Popen(
            [self.program, "--addr", "127.0.0.1", "--port", str(self.port), "--jetstream",
             "--store_dir", self.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def answers():
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return True
            except OSError:
                return False

        wait_for("nats-server", answers, 30)

    def kill(self):
        """Ends it at once."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    @property
    def url(self):
        """Where it is."""
        return f"nats://127.0.0.1:{self.port}"


class Way:
    """A way to a port that can be cut: nothing passes then, and no end hears of it."""

    def __init__(self, port, address="127.0.0.1"):
        self.to, self.is_cut, self.ended = port, False, False
        self.listener = socket.create_server((address, 0))
        self.address, self.port = self.listener.getsockname()[:2]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        """Where it begins."""
        return f"nats://{self.address}:{self.port}"

    def cut(self):
        """Cuts it."""
        self.is_cut = True

    def close(self):
        """Ends it."""
        self.ended = True
        self.listener.close()

    def _accept(self):
        while not self.ended:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(near,), daemon=True).start()

    def _carry(self, near):
        try:
            with near, socket.create_connection(("127.0.0.1", self.to)) as far:
                other = {near: far, far: near}
                while not self.ended:
                    if self.is_cut:
                        time.sleep(0.05)
                        continue
                    ready, _, _ = select.select([near, far], [], [], 0.05)
                    for one in ready:
                        data = one.recv(65536)
                        if not data:
                            return
                        other[one].sendall(data)
        except OSError:
            return


class Agents:
    """Agents as processes of their own."""

    def __init__(self, program, nats, names, environment, urls=None, places=None):
        self.program, self.nats = program, nats
        self.environment = environment
        self.urls, self.places = urls or {}, places or {}
        self.processes = {}
        self.names = names

    def __enter__(self):
        for name in self.names:
            self.start(name)
        self.wait()
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()

    def start(self, name):
        """Starts one."""
        url = self.urls.get(name, self.nats.url)
        place = self.places.get(name)
        prefix, env, folder, log = (), {}, None, None
        if place:
            prefix, env, folder, log = place.prefix, place.env, place.folder, place.log
        with open(log or os.devnull, "ab") as out:
            self.processes[name] = subprocess.Popen(
                [*prefix, self.program, "agent", f"--nats={url}", f"--name={name}"],
                env={**self.environment, **env}, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out)

    def signal(self, name, number):
        """Signals the agent of this name."""
        self.processes[name].send_signal(number)

    def wait(self):
        """Waits until all wait for runs."""
        def listed():
            said = subprocess.run(
                [self.program, "agents", f"--nats={self.nats.url}"], env=self.environment,
                capture_output=True, text=True, timeout=LIMIT_S).stdout
            return said.count(" free") >= len(self.names)

        wait_for("the agents", listed)


def environment(folder, password):
    """What programs of a measurement see."""
    return {**os.environ, "TIDEMARK_STORE": str(pathlib.Path(folder) / "runs.db"),
            "MYSQL_PWD": password, "LC_ALL": "C"}


def last_record(program, env):
    """The newest run's record."""
    said = subprocess.run([program, "show", "last", "--json"], env=env, capture_output=True,
                          text=True, timeout=LIMIT_S)
    if said.returncode != 0:
        raise BenchError(f"no record: {said.stderr}")
    return json.loads(said.stdout)
