"""One run of Tidemark's: what is asked of it, what it recorded, what it says of itself."""

import dataclasses
import json
import os
import pathlib
import subprocess

from laboratory.process import Run as Recorded
from vs_sysbench.errors import BenchError

from .servers import Tables

# What a run may take beyond its time: tables under a lock, connections one by one.
GRACE_S = 60
# Findings make some runs end with 3.
RAN = (0, 3)


@dataclasses.dataclass(frozen=True)
class Load:
    """What one run is asked to do."""

    script: str
    tables: Tables
    sessions: int
    options: tuple = ()
    #: Whether its schedule says how long it takes.
    has_steps: bool = False

    def words(self, url, *more):
        """After the program's name."""
        return ["sysbench", self.script, f"--target={url}", *self.tables.options(),
                f"--threads={self.sessions}", *self.options, *more]

    def with_options(self, *options):
        """The same with these as well."""
        return dataclasses.replace(self, options=(*self.options, *options))

    def in_steps(self, *options):
        """The same on a schedule of steps, which says how long it takes."""
        return dataclasses.replace(self.with_options(*options), has_steps=True)


class Measured:
    """What a run recorded."""

    def __init__(self, record):
        recorded = Recorded(record)
        self.id = record.get("id")
        self.count, self.elapsed_s = recorded.count, recorded.elapsed_s
        self.per_second = recorded.per_second
        self.mean_ms = recorded.service.mean_ns / 1e6
        self.most_ms = recorded.service.max_ns / 1e6
        self.least_ms = recorded.service.min_ns / 1e6
        response = recorded.response or recorded.service
        self.response_ms = response.mean_ns / 1e6
        self.median_ms = recorded.service.percentile_ns(50.0) / 1e6
        self.sessions = [interval["sessions"] for interval in record["intervals"]]


def within(command, group):
    """A command that is in a control group from its first moment."""
    if group is None:
        return command
    return ["sh", "-c", f'echo $$ > "{group.path}/cgroup.procs"; exec "$@"', "sh", *command]


class Client:
    """Runs Tidemark; records and runs are kept in `folder`."""

    def __init__(self, tidemark, folder, plan):
        self.tidemark, self.folder, self.plan = pathlib.Path(tidemark), pathlib.Path(folder), plan
        self.store = self.folder / "runs.db"
        self.process = None
        self.record = self.folder / "record.json"

    def environment(self):
        """Its runs are kept here, and not with the user's."""
        return {**os.environ, "TIDEMARK_STORE": str(self.store), "LANG": "C.UTF-8"}

    def pids(self):
        """Of the run that goes on."""
        return [self.process.pid] if self.process and self.process.poll() is None else []

    def run(self, load, url, seconds, group=None):
        """A run, and what it recorded; `group` is the control group it is in from its first
        moment."""
        time = [] if load.has_steps else [f"--time={seconds}"]
        command = [str(self.tidemark), *load.words(
            url, *time, f"--warmup-time={self.plan.warmup_s}", "--report-interval=1",
            f"--out={self.record}", "--overwrite=on", "run")]
        command = within(command, group)
        self._ended(command, seconds + self.plan.warmup_s)
        return Measured(json.loads(self.record.read_text()))

    def burst(self, load, url, seconds):
        """Load that nobody measures."""
        self._ended([str(self.tidemark), *load.words(url, f"--time={seconds}", "--store=off",
                                                     "--observe=off", "run")], seconds)

    def _ended(self, command, seconds):
        self.process = process = subprocess.Popen(
            command, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        try:
            said, _ = process.communicate(timeout=seconds + GRACE_S)
        except subprocess.TimeoutExpired as error:
            raise BenchError(f"{' '.join(command[1:3])} did not end in time") from error
        finally:
            self.process = None
            if process.poll() is None:
                process.kill()
                process.communicate()
        if process.returncode not in RAN:
            what = " ".join(command[1:3])
            raise BenchError(f"{what} ended with {process.returncode}\n{said[-2000:]}")

    def diagnosis(self, run):
        """What `tidemark show` says of a run's bottleneck; none if it says nothing."""
        command = [str(self.tidemark), "show", run, "--json"]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        try:
            return json.loads(done.stdout).get("diagnosis") if done.returncode == 0 else None
        except (ValueError, AttributeError):
            return None

    def diagnose(self, load, url, budget_s, group=None):
        """What the experiments of `tidemark diagnose` say, with nothing observed; none if nothing."""
        command = [str(self.tidemark), "diagnose", f"--budget={budget_s}s", "--format=json",
                   *load.words(url, "--observe=off", "run")]
        done = subprocess.run(within(command, group), env=self.environment(), capture_output=True,
                              text=True, timeout=10 * budget_s + GRACE_S)
        try:
            return json.loads(done.stdout) if done.returncode in RAN else None
        except ValueError:
            return None
