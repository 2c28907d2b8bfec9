"""The laboratory as a process of its own, and Tidemark's runs against it."""

import json
import os
import pathlib
import re
import subprocess

from vs_sysbench.errors import BenchError

from .histogram import Histogram

URL = re.compile(r"^export TIDEMARK_LAB_(MYSQL|POSTGRES)_URL='([^']+)'$", re.MULTILINE)
# What a run may take beyond its time to connect and to end.
GRACE_S = 60
ROWS = 1000


class Laboratory:
    """A laboratory on free ports; it ends with its `with`, or with this process."""

    def __init__(self, program, *options):
        self.command = [program, "--until-eof", f"--table-size={ROWS}", *options]
        self.urls, self.process = {}, None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        said = ""
        for line in self.process.stdout:
            if line.startswith("# ready"):
                break
            said += line
        self.urls = {name.lower(): url for name, url in URL.findall(said)}
        if not self.urls:
            self.__exit__()
            raise BenchError(f"the laboratory did not start: {self.command}\n{said}")
        return self

    def truth(self):
        """Ends it; what really happened."""
        said, _ = self.process.communicate(timeout=GRACE_S)
        if self.process.returncode != 0:
            raise BenchError(f"the laboratory ended with {self.process.returncode}\n{said}")
        return json.loads(said)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Run:
    """What Tidemark recorded of one run."""

    def __init__(self, record):
        totals = record["totals"]
        self.count, self.elapsed_s = totals["all"]["count"], totals["elapsed_s"]
        self.service = Histogram(totals["all"]["service"])
        # The part of it at the server and on the way: what the laboratory knows.
        self.server = Histogram(totals["all"]["server"])
        response = totals["all"].get("response")
        self.response = Histogram(response) if response else None
        lateness = totals.get("lateness")
        self.lateness = Histogram(lateness) if lateness else None
        self.dropped = totals.get("dropped_arrivals", 0)

    @property
    def per_second(self):
        """Transactions a second."""
        return self.count / self.elapsed_s


def tidemark(program, folder, url, options, seconds):
    """One run of point selects; it ends in about so many seconds."""
    record = pathlib.Path(folder, "record.json")
    command = [program, "sysbench", "oltp_point_select", f"--target={url}", "--tables=1"]
    command += [f"--table-size={ROWS}", *options, f"--out={record}", "run"]
    # The user's own store is not for these runs.
    env = {**os.environ, "TIDEMARK_STORE": str(pathlib.Path(folder, "runs.db"))}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=seconds + GRACE_S
    )
    if done.returncode != 0:
        what = " ".join(str(part) for part in command)
        raise BenchError(f"{what} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return Run(json.loads(record.read_text()))


def timers(program, rate, seconds):
    """How late threads wake that only sleep, in nanoseconds by percentile."""
    command = [program, f"--rate={rate}", f"--time={seconds}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + GRACE_S)
    if done.returncode != 0:
        raise BenchError(f"{program} ended with {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)
