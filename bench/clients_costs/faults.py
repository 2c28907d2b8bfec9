"""What goes wrong, once: a run of three clients, the fault in its middle, and what its record says."""

import os
import pathlib
import re
import signal
import subprocess
import time

from vs_sysbench.errors import BenchError

from .hosts import Agents, LIMIT_S, Way, last_record
from .judged import complaint
from .places import Disk, Network, WallClock

NAMES = ["a", "b", "c"]
# A kill is noticed within this time.
NOTICED_S = 2.0
FAULTS = ["client killed", "load killed", "client stopped", "client cut off", "client restarted",
          "NATS killed and restarted", "coordinator killed", "wall clock of a client set",
          "disk of a client full"]
# Nothing is to come of these.
HARMLESS = ["NATS killed and restarted", "wall clock of a client set", "disk of a client full"]


class Stage:
    """Where faults happen."""

    def __init__(self, program, nats, target, env, seconds):
        self.program, self.nats, self.target = program, nats, target
        self.env, self.seconds = env, seconds
        self.has_networks = Network.is_possible()

    def impossible(self, fault):
        """Why a fault can't be made here; nothing of one that can."""
        try:
            place = self._place(fault)
        except BenchError as error:
            return str(error)
        if place:
            place.close()
        return None

    def said(self, fault):
        """A fault with how it is made, where that depends on the host."""
        if fault != "client cut off":
            return fault
        how = "a network namespace's cable" if self.has_networks else "a forwarder, no network namespaces"
        return f"{fault} ({how})"

    def _place(self, fault):
        """Where the client is to which it happens."""
        if fault == "client cut off":
            return Network(self.nats.port) if self.has_networks else None
        if fault.startswith("wall clock"):
            return WallClock(self.program)
        return Disk() if fault.startswith("disk") else None

    def once(self, fault, policy):
        """One run with one fault. (complaint or None, seconds until it was noticed or None)"""
        place = self._place(fault)
        way = place if isinstance(place, Network) else Way(self.nats.port)
        urls = {"c": way.url} if fault == "client cut off" else {}
        places = {"c": place} if place else {}
        try:
            with Agents(self.program, self.nats, NAMES, self.env, urls, places) as agents:
                return self._run(fault, policy, agents, way, place)
        finally:
            way.close()
            if place and place is not way:
                place.close()

    def _run(self, fault, policy, agents, way, place):
        run = subprocess.Popen(
            [self.program, "sysbench", "oltp_read_only", f"--target={self.target}", "--tables=1",
             "--table-size=1000", "--clients=a,b,c", f"--nats={self.nats.url}", "--threads=3",
             f"--time={self.seconds}", "--report-interval=1", f"--on-client-loss={policy}", "run"],
            env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        try:
            self._until_interval(run, 2)
            at = time.monotonic()
            self._make(fault, agents, way, run, place)
            if fault == "coordinator killed":
                run.wait()
                taken = subprocess.run(
                    [self.program, "attach", f"--nats={self.nats.url}"], env=self.env,
                    capture_output=True, text=True, timeout=LIMIT_S)
                if taken.returncode != 0:
                    return f"attach: {taken.stderr.strip()}", None
                return complaint(last_record(self.program, self.env), "finished", []), None
            noticed = None
            for line in run.stdout:
                if noticed is None and re.search(r"client c(?: is lost|:)", line):
                    noticed = time.monotonic() - at
            run.wait(LIMIT_S)
        finally:
            if run.poll() is None:
                run.kill()
                run.wait()
        lost = [] if fault in HARMLESS else ["c"]
        state = "finished" if policy == "continue" or not lost else "failed"
        return complaint(last_record(self.program, self.env), state, lost), noticed

    def _until_interval(self, run, number):
        """Waits for the line of an interval."""
        for line in run.stdout:
            if line.startswith("[") and int(re.match(r"\[ *(\d+)", line)[1]) >= number:
                return
        raise BenchError(f"a run ended before its interval {number}")

    def _make(self, fault, agents, way, run, place):
        if fault == "client killed":
            agents.signal("c", signal.SIGKILL)
        elif fault == "load killed":
            pid = agents.processes["c"].pid
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
        elif fault == "client stopped":
            agents.signal("c", signal.SIGSTOP)
        elif fault == "client cut off":
            way.cut()
        elif fault == "client restarted":
            agents.signal("c", signal.SIGKILL)
            agents.processes["c"].wait()
            agents.start("c")
        elif fault.startswith("NATS"):
            self.nats.kill()
            time.sleep(0.5)
            self.nats.start()
        elif fault == "coordinator killed":
            run.kill()
        elif fault.startswith("wall clock"):
            place.set(True)
            time.sleep(2)
            place.set(False)
        elif fault.startswith("disk"):
            place.fill()
        else:
            raise BenchError(f"{fault}: no such fault")
