"""Runs a program on a terminal of its own (pty(7)), as a user does who looks at it."""

import dataclasses
import fcntl
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import termios
import time

from vs_sysbench.errors import BenchError

ROWS, COLUMNS = 40, 120
# What a view writes when it takes the terminal, and when it gives it back (xterm's control
# sequences, "Alternate Screen Buffer").
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"


@dataclasses.dataclass(frozen=True)
class Shown:
    """A program that has ended on its terminal: its exit code, all that it wrote there, and the
    processor time that it took."""

    status: int
    written: bytes
    cpu_s: float

    @property
    def had_view(self):
        """Whether a view took the terminal and gave it back."""
        return 0 <= self.written.find(ENTER) < self.written.rfind(LEAVE)

    @property
    def text(self):
        """All of it, in lines as pipes have them."""
        return self.written.decode(errors="replace").replace("\r\n", "\n")

    @property
    def said(self):
        """What is left to read on the terminal: all that came after the view, if there was one."""
        return self.text.rpartition(LEAVE.decode())[2]


def _own_terminal():
    # Of the new session, so that the terminal is its controlling one.
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def run(command, timeout_s, env=None, cwd=None):
    """Runs `command` to its end; kills it after `timeout_s` seconds, which is an error."""
    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        env = {**(env or os.environ), "TERM": "xterm-256color"}
        program = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=cwd,
            start_new_session=True, preexec_fn=_own_terminal,
        )
        os.close(theirs)
        theirs = None
        return _read(ours, program, time.monotonic() + timeout_s)
    finally:
        os.close(ours)
        if theirs is not None:
            os.close(theirs)


def _cpu_s():
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _read(terminal, program, deadline):
    written, before = bytearray(), _cpu_s()
    try:
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                more = os.read(terminal, 1 << 16)
            except OSError:
                # Linux's answer when nobody has the other side any more (EIO).
                more = b""
            if not more:
                status = program.wait()
                return Shown(status, bytes(written), _cpu_s() - before)
            written += more
        raise BenchError(f"{program.args[0]} had not ended in time and was killed")
    finally:
        if program.poll() is None:
            program.send_signal(signal.SIGKILL)
            program.wait()
