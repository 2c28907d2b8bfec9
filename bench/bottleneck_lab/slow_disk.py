"""The library that makes a server's disk slow, and the file that tells it how."""

import contextlib
import mmap
import os
import pathlib
import struct
import subprocess

from vs_sysbench.errors import BenchError

SOURCE = pathlib.Path(__file__).with_name("slow_disk.c")
# The order of `struct control` in slow_disk.c: what is asked, then what was done.
ASKED = ("flush_ns", "read_ns", "write_ns", "log_ns", "slot_ns", "uncached")
FIELDS = (*ASKED, "free_at_ns", "flushes", "reads", "writes", "waited_ns")


class SlowDisk:
    """A server's disk: as it is, until something is asked of it."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.library = folder / "slow_disk.so"
        self.control = folder / "slow_disk.control"
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", self.library, SOURCE, "-ldl"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError as error:
            raise BenchError("cc is not installed; on Debian: apt-get install gcc") from error
        if done.returncode != 0:
            raise BenchError(f"{SOURCE} was not built: {done.stderr}")
        self.control.write_bytes(bytes(8 * len(FIELDS)))
        # Each server has an account of its own.
        os.chmod(self.control, 0o666)
        os.chmod(self.library, 0o755)
        with open(self.control, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 8 * len(FIELDS))

    def environment(self):
        """What a server is started with."""
        return {"LD_PRELOAD": str(self.library), "SLOW_DISK_CONTROL": str(self.control)}

    def _set(self, name, value):
        struct.pack_into("=Q", self.memory, 8 * FIELDS.index(name), value)

    def counted(self):
        """What the library did so far, by name."""
        return dict(zip(FIELDS, struct.unpack(f"={len(FIELDS)}Q", self.memory[:]), strict=True))

    @contextlib.contextmanager
    def slowed(self, **asked):
        """A slow disk while its `with` lasts."""
        former = self.counted()
        try:
            for name, value in asked.items():
                self._set(name, int(value))
            yield self
        finally:
            for name in asked:
                self._set(name, former[name])
