"""The CPU that other programs of this host take while a benchmark runs."""

import os
import pathlib
import resource
import time

HERTZ = os.sysconf("SC_CLK_TCK")


class OtherPrograms:
    """`with OtherPrograms(pids) as others: …`, then `others.cores`: CPUs' worth of time that programs
    took in between that are neither this one, its children that have ended, nor the servers of
    `pids` with their children. Interrupts are nobody's."""

    def __init__(self, pids):
        self.pids = tuple(pids)
        self.cores = 0.0

    def __enter__(self):
        self.begun = time.monotonic(), self._host_s() - self._own_s()
        return self

    def __exit__(self, *_):
        began, before = self.begun
        passed = time.monotonic() - began
        others = self._host_s() - self._own_s() - before
        self.cores = max(0.0, others / passed) if passed > 0 else 0.0

    @staticmethod
    def _host_s():
        # user nice system, of all processors (proc_stat(5)).
        fields = pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return sum(map(int, fields[1:4])) / HERTZ

    def _own_s(self):
        own = sum(
            usage.ru_utime + usage.ru_stime
            for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        )
        return own + sum(map(self._server_s, self.pids))

    def _server_s(self, pid):
        total = self._process_s(pid)
        for child in self._children(pid):
            total += self._process_s(child)
        return total

    @staticmethod
    def _children(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []

    @staticmethod
    def _process_s(pid):
        # After the name, which may hold blanks: utime stime cutime cstime are the fields 14 to 17
        # (proc_pid_stat(5)).
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return sum(map(int, fields[11:15])) / HERTZ
