"""How Tidemark is asked for TPC-H."""

from tpcc_costs.client import LIMIT_S, GoTpc


class Tpch(GoTpc):
    """`tidemark tpch`, with primary keys and no other indexes."""

    def __init__(self, program, target, folder, scale):
        super().__init__("tpch", program, target, folder)
        self.size = ["--sf", str(scale), "--indexes=off"]

    def prepare(self, threads):
        """Loads and verifies; what the process took."""
        return self.call("prepare", [*self.size, "-T", str(threads)], LIMIT_S)

    def write_csv(self, parts, folder):
        """The same rows as files, so many for each table."""
        options = ["-T", str(parts), "--output-type=csv", f"--output-dir={folder}"]
        self.call("prepare", [*self.size, *options], LIMIT_S)

    def cleanup(self):
        """Drops what Tidemark made."""
        self.call("cleanup", self.size, LIMIT_S)
