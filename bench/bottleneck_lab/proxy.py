"""The proxy that makes a server farther away, as a process of its own."""

import subprocess

from vs_sysbench.errors import BenchError


class Distance:
    """A proxy before a server; it ends with its `with`, or with this process."""

    def __init__(self, program, server, each_way_ms):
        self.command = [str(program), f"--to={server}", f"--delay={each_way_ms}ms"]
        self.process = self.port = None

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        said = self.process.stdout.readline()
        if not said.startswith("# ready "):
            self.__exit__()
            raise BenchError(f"the proxy did not start: {' '.join(self.command)}")
        self.port = int(said.rpartition(":")[2])
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
