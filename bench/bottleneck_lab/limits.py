"""Limits on processes and what disturbs them: CPU quotas, disk rates, spinning and stopping."""

import contextlib
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

from vs_sysbench.errors import BenchError

CGROUPS = pathlib.Path("/sys/fs/cgroup")
PERIOD_US = 100_000
# Of a duty cycle.
CYCLE_S = 0.05
_numbers = itertools.count()


def signalled(pids, number):
    """Sends a signal; those that it reached."""
    reached = []
    for pid in pids:
        # A backend may have ended meanwhile.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            reached.append(pid)
    return reached


def family(pid):
    """A process and its children: PostgreSQL has one a session."""
    try:
        text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [pid, *(int(word) for word in text.split())]


def cpu_seconds(pid):
    """The processor time of a process and its threads so far; 0 of one that has ended."""
    try:
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


class Cgroup:
    """A control group of this laboratory's own; its processes go back to where this one is."""

    def __init__(self, controller):
        self.controller = controller
        self.path = self.home = None

    def homes(self):
        """The groups that one with this controller is made in: version 1, then 2, which gives a
        controller only to groups without processes."""
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if self.controller in controllers.split(","):
                home = CGROUPS / self.controller / path.lstrip("/")
                yield home, home
            elif not controllers:
                yield CGROUPS, CGROUPS / path.lstrip("/")

    def make(self):
        """Makes it; false where nobody may."""
        for parent, home in self.homes():
            path = parent / f"tidemark-bottlenecks-{os.getpid()}-{next(_numbers)}"
            try:
                path.mkdir()
            except OSError:
                continue
            if any(path.glob(f"{self.controller}.*")):
                self.path, self.home = path, home
                return True
            path.rmdir()
        return False

    def write(self, name, text):
        """Sets one of its files."""
        (self.path / name).write_text(text)

    def has(self, name):
        """Whether it has a file of this name."""
        return (self.path / name).exists()

    def take(self, pids):
        """Moves processes into it."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                self.write("cgroup.procs", str(pid))

    def stat(self, name):
        """A number of its cpu.stat."""
        for line in (self.path / "cpu.stat").read_text().splitlines():
            word, _, value = line.partition(" ")
            if word == name:
                return int(value)
        return 0

    def remove(self):
        """Sends its processes back to where they came from, and removes it."""
        if self.path is None:
            return
        for _ in range(100):
            pids = (self.path / "cgroup.procs").read_text().split()
            for pid in pids:
                with contextlib.suppress(OSError):
                    (self.home / "cgroup.procs").write_text(pid)
            try:
                self.path.rmdir()
                return
            except OSError:
                # A process that is ending is still in it.
                time.sleep(0.05)
        raise BenchError(f"{self.path} can't be removed")


class Repeated:
    """Does something again and again on a thread of its own while its `with` lasts."""

    def __init__(self, work):
        self.work, self.ending = work, threading.Event()
        self.thread = threading.Thread(target=self._go_on, daemon=True)

    def _go_on(self):
        while not self.ending.is_set():
            self.work(self.ending)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()


class CpuLimit:
    """So many cores for processes: by a control group, or by stopping them for a part of each
    cycle where no group may be made."""

    def __init__(self, cores):
        self.cores, self.group, self.cycles = cores, None, 0

    @contextlib.contextmanager
    def of(self, pids):
        """Limits what `pids()` gives, and what they start."""
        group = Cgroup("cpu")
        if group.make():
            try:
                quota = int(self.cores * PERIOD_US)
                if group.has("cpu.cfs_quota_us"):
                    group.write("cpu.cfs_period_us", str(PERIOD_US))
                    group.write("cpu.cfs_quota_us", str(quota))
                else:
                    group.write("cpu.max", f"{quota} {PERIOD_US}")
                group.take(pids())
                self.group = group
                yield self
            finally:
                self.cycles = group.stat("nr_throttled")
                self.group = None
                group.remove()
            return
        with Repeated(lambda ending: self._cycle(pids, ending)):
            yield self

    def _cycle(self, pids, ending):
        """A part of a cycle at rest: several threads run at once, on as many cores as there are."""
        working = min(1.0, self.cores / len(os.sched_getaffinity(0))) * CYCLE_S
        reached = signalled(pids(), signal.SIGSTOP)
        ending.wait(CYCLE_S - working)
        signalled(reached, signal.SIGCONT)
        self.cycles += bool(reached)
        ending.wait(working)

    def throttled(self):
        """Times that they had to wait for their share."""
        return self.group.stat("nr_throttled") if self.group else self.cycles


def busy_s():
    """Seconds for which this host's processors have been at work, for whomever (proc_stat(5)): all but
    idle and waiting for disks."""
    line = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0]
    ticks = [int(word) for word in line.split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


class Stops:
    """Stops processes for a while, again and again."""

    def __init__(self, pids, every_s, length_s):
        self.pids, self.every_s, self.length_s, self.count = pids, every_s, length_s, 0
        #: The share of the processors that was busy in each stretch before a stop.
        self.busy = []
        self.repeated = Repeated(self._once)

    def _once(self, ending):
        begun, busy = time.monotonic(), busy_s()
        if ending.wait(self.every_s - self.length_s):
            return
        passed = time.monotonic() - begun
        self.busy.append((busy_s() - busy) / passed / os.cpu_count())
        reached = signalled(self.pids(), signal.SIGSTOP)
        try:
            time.sleep(self.length_s)
        finally:
            signalled(reached, signal.SIGCONT)
        self.count += 1

    def __enter__(self):
        self.repeated.__enter__()
        return self

    def __exit__(self, *_):
        self.repeated.__exit__()


SPIN = """
import sys, time
part = float(sys.argv[1])
while True:
    end = time.perf_counter() + 0.05 * part
    while time.perf_counter() < end or part >= 1:
        pass
    time.sleep(0.05 * (1 - part))
"""


class Spinners:
    """Programs that do nothing but take the processors: each so much of one."""

    def __init__(self, count, part=1):
        self.count, self.part, self.processes = count, part, []

    def __enter__(self):
        for _ in range(self.count):
            command = [sys.executable, "-c", SPIN, str(self.part)]
            # In sessions of their own: the kernel gives each session (autogroup) an equal share.
            self.processes.append(subprocess.Popen(command, start_new_session=True))
        return self

    def cpu_seconds(self):
        """Their processor time so far."""
        return sum(cpu_seconds(process.pid) for process in self.processes)

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


def device_of(path):
    """`major:minor` of the whole disk that holds a path; none if it is on no disk."""
    number = os.stat(path).st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    sys_path = pathlib.Path("/sys/dev/block", device)
    if not sys_path.exists():
        return None
    if (sys_path / "partition").exists():
        return (sys_path.resolve().parent / "dev").read_text().strip()
    return device


class Disk:
    """The disk as a control group sees it."""

    def __init__(self, group, device):
        self.group, self.device = group, device

    def reads(self):
        """Reads of the group so far."""
        text = (self.group.path / "blkio.throttle.io_serviced").read_text()
        found = re.search(rf"^{self.device} Read (\d+)$", text, re.MULTILINE)
        return int(found[1]) if found else 0


@contextlib.contextmanager
def read_rate(pids, path, per_second):
    """Reads from the disk limited by a control group, while its `with` lasts; yields what it sees,
    or none where none may be made."""
    group, device = Cgroup("blkio"), device_of(path)
    if device is None or not group.make():
        yield None
        return
    try:
        group.write("blkio.throttle.read_iops_device", f"{device} {per_second}")
        group.take(pids())
        yield Disk(group, device)
    finally:
        group.remove()
