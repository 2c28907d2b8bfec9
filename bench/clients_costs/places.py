"""Where an agent runs: a host of its own as far as the kernel lends one: a network, a clock, a disk."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from vs_sysbench.errors import BenchError

from .hosts import Way

# A wall clock that is an hour ahead while a file is there (ld.so(8), LD_PRELOAD). It says that it is used.
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void loaded(void) {
    char name[4096];
    const char *jump = getenv("TIDEMARK_BENCH_JUMP");
    if (!jump) return;
    snprintf(name, sizeof name, "%s.loaded", jump);
    int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file >= 0) close(file);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, time);
    if (!failed && clock == CLOCK_REALTIME) {
        const char *jump = getenv("TIDEMARK_BENCH_JUMP");
        if (jump && access(jump, F_OK) == 0) time->tv_sec += 3600;
    }
    return failed;
}
"""


def done(*command):
    """Whether a command ends well."""
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


class Place:
    """This host, as it is."""

    # Words before the agent's own, what its environment has beside, its folder, and what it prints to.
    prefix, env, folder, log = (), {}, None, None

    def close(self):
        """Takes it away."""


class Clock(Place):
    """A host that was started at another time: its monotonic clock is so many seconds ahead
    (time_namespaces(7))."""

    def __init__(self, ahead_s):
        self.ahead_ms = ahead_s * 1000.0
        self.prefix = ("unshare", "--time", f"--monotonic={ahead_s}", f"--boottime={ahead_s}", "--fork",
                       "--kill-child")

    @staticmethod
    def is_possible():
        """Whether this user may have one."""
        return done(*Clock(1).prefix, "true")


class Network(Place):
    """A host with a network of its own (ip-netns(8)); its cable can be pulled."""

    NAME = f"tmk{os.getpid()}"
    HERE, THERE = "10.213.77.1", "10.213.77.2"

    def __init__(self, port):
        self.prefix = ("ip", "netns", "exec", self.NAME)
        self.near = f"{self.NAME}a"
        self.far = f"{self.NAME}b"
        for command in (
            f"ip netns add {self.NAME}",
            f"ip link add {self.near} type veth peer name {self.far} netns {self.NAME}",
            f"ip address add {self.HERE}/30 dev {self.near}",
            f"ip link set {self.near} up",
            f"ip -n {self.NAME} address add {self.THERE}/30 dev {self.far}",
            f"ip -n {self.NAME} link set {self.far} up",
            f"ip -n {self.NAME} link set lo up",
        ):
            if not done(*command.split()):
                self.close()
                raise BenchError(f"{command}: failed")
        try:
            self.way = Way(port, self.HERE)
        except OSError as error:
            self.close()
            raise BenchError(f"{self.HERE}: {error}") from error
        self.url = self.way.url

    @classmethod
    def is_possible(cls):
        """Whether this user may have one."""
        if os.geteuid() != 0 or not shutil.which("ip"):
            return False
        try:
            cls(9).close()
            return True
        except BenchError:
            return False

    def cut(self):
        """Pulls the cable: nothing passes, and no end hears of it."""
        done("ip", "link", "set", self.near, "down")

    def close(self):
        if hasattr(self, "way"):
            self.way.close()
        done("ip", "link", "delete", self.near)
        done("ip", "netns", "delete", self.NAME)


class WallClock(Place):
    """A host whose wall clock is set while the agent runs."""

    def __init__(self, program):
        self.home = tempfile.mkdtemp(prefix="tidemark-bench-clock.")
        self.jump = pathlib.Path(self.home) / "jump"
        library = pathlib.Path(self.home) / "clock.so"
        source = pathlib.Path(self.home) / "clock.c"
        source.write_text(SHIM)
        self.env = {"LD_PRELOAD": str(library), "TIDEMARK_BENCH_JUMP": str(self.jump)}
        if not done("cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"):
            self.close()
            raise BenchError("cc made no library")
        subprocess.run([program, "--version"], env={**os.environ, **self.env}, capture_output=True)
        if not pathlib.Path(f"{self.jump}.loaded").exists():
            self.close()
            raise BenchError("the program takes no library before its own")

    def set(self, is_ahead):
        """Sets it an hour ahead, and back."""
        if is_ahead:
            self.jump.touch()
        else:
            self.jump.unlink(missing_ok=True)

    def close(self):
        shutil.rmtree(self.home, ignore_errors=True)


class Disk(Place):
    """A host with a disk of 256 KiB, on which all is that its agent may write."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tidemark-bench-disk.")
        if not done("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", self.folder):
            os.rmdir(self.folder)
            raise BenchError("no disk of its own could be mounted")
        self.log = os.path.join(self.folder, "log")
        names = ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
        self.env = {name: self.folder for name in names}
        self.env["TIDEMARK_STORE"] = os.path.join(self.folder, "runs.db")

    def fill(self):
        """Fills it to the last byte."""
        with open(os.path.join(self.folder, "filled"), "ab", buffering=0) as file:
            for size in (4096, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass
        if os.statvfs(self.folder).f_bavail:
            raise BenchError("the disk could not be filled")

    def close(self):
        done("umount", "--lazy", self.folder)
        os.rmdir(self.folder)


class ServerApart:
    """A server on a processor of its own, and what this process starts meanwhile on the others: a server
    that is the limit loses nothing to what several clients take beside one."""

    def __init__(self, pid):
        self.pid, self.all = pid, os.sched_getaffinity(0)
        self.is_possible = len(self.all) > 1

    def __enter__(self):
        if self.is_possible:
            first, *others = sorted(self.all)
            self.place({first})
            os.sched_setaffinity(0, others)
        return self

    def __exit__(self, *_):
        if self.is_possible:
            os.sched_setaffinity(0, self.all)
            self.place(self.all)

    def place(self, cores):
        """Puts each of the server's threads there; those that it starts later follow their starter."""
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                os.sched_setaffinity(int(task.name), cores)
            except ProcessLookupError:
                pass
