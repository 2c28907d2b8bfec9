"""Runs a program and tells what the operating system says it used.

wait4(2) gives the CPU time of the program with all its threads. The largest resident memory is not
so simple: Linux folds the memory of the process image that is replaced by execve into the new
one's ru_maxrss, so a program started by a Python of 12 MB never shows less than 12 MB, however it
was started (fork, vfork and posix_spawn alike). A fork begins a new count, though. So a shell of
1 MB is asked to fork and execute the program and to end at once; this process is its child
subreaper (prctl(2)), becomes the orphan's parent and reaps it with wait4. The floor that is left is
the shell's own memory; `floor_bytes` measures it.
"""

import ctypes
import dataclasses
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

from .errors import BenchError

PR_SET_CHILD_SUBREAPER = 36
# dash is the smallest; any POSIX shell does.
SHELL = "/bin/dash" if os.path.exists("/bin/dash") else "/bin/sh"
# The fork waits for a line before it executes the program: only once the shell has ended is this
# process its parent. Without the line (this process died) it does not start.
SCRIPT = """
out=$1 err=$2
shift 2
exec 3<&0
{ read -r go <&3 && exec "$@" </dev/null >"$out" 2>"$err" 3<&-; } &
echo "$!"
"""


@dataclasses.dataclass(frozen=True)
class Finished:
    """A program that has ended: what it used and what it said."""

    user_s: float
    system_s: float
    max_rss_bytes: int
    wall_s: float
    status: int
    stdout: str
    stderr: str


def become_subreaper():
    """Makes orphaned descendants children of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise BenchError("prctl(PR_SET_CHILD_SUBREAPER): " + os.strerror(ctypes.get_errno()))


def read_from_disk(programs):
    """Has programs read from disk when they are next started. What was written a short time ago is in
    the page cache in larger pieces, which Linux maps whole: up to 2 MiB more of a program than after a
    restart of the machine, and which program was installed last would decide a ratio."""
    for program in programs:
        with open(program, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(command, timeout_s, env=None, cwd=None):
    """Runs `command` to its end; kills it after `timeout_s` seconds, which is an error."""
    become_subreaper()
    with tempfile.TemporaryDirectory(prefix="tidemark-run.") as folder:
        out, err = pathlib.Path(folder, "out"), pathlib.Path(folder, "err")
        with subprocess.Popen(
            [SHELL, "-c", SCRIPT, "launch", out, err, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=env,
            cwd=cwd,
        ) as shell:
            pid = int(shell.stdout.readline())
            shell.wait()
            begun = time.monotonic()
            shell.stdin.write(b"go\n")
            shell.stdin.flush()
            status, used, late = _reap(pid, timeout_s)
            wall_s = time.monotonic() - begun
        finished = Finished(
            user_s=used.ru_utime,
            system_s=used.ru_stime,
            # getrusage(2): kilobytes.
            max_rss_bytes=used.ru_maxrss * 1024,
            wall_s=wall_s,
            status=os.waitstatus_to_exitcode(status),
            stdout=out.read_text(errors="replace"),
            stderr=err.read_text(errors="replace"),
        )
    if late:
        raise BenchError(f"{command[0]} had not ended after {timeout_s} s and was killed")
    return finished


def _reap(pid, timeout_s):
    """Waits for the process; its status, its resource usage, and whether it had to be killed."""
    late = threading.Event()

    def kill():
        late.set()
        os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(timeout_s, kill)
    timer.daemon = True
    timer.start()
    try:
        _, status, used = os.wait4(pid, 0)
    except (KeyboardInterrupt, SystemExit):
        # Interrupted: the program must not outlive this one.
        timer.cancel()
        os.kill(pid, signal.SIGKILL)
        os.wait4(pid, 0)
        raise
    timer.cancel()
    return status, used, late.is_set()


def floor_bytes():
    """The memory that a program which needs none is shown with: the error of the measurement."""
    return measure(["/bin/true"], timeout_s=10).max_rss_bytes
