"""What is run on which server."""

import contextlib
import dataclasses
import pathlib
import shutil

from session_costs.bench import reached
from tpcc_costs.native import NativeLoader, load_in_turn
from vs_sysbench import target
from vs_sysbench.clients import TIDEMARK
from vs_sysbench.command import dropping, refuse_existing

from . import report
from .client import Tpch

TABLES = (
    "region",
    "nation",
    "part",
    "supplier",
    "partsupp",
    "customer",
    "orders",
    "lineitem",
)
# Of numbers, dates and texts: files misread would be quick, too.
SUMS = (
    "SELECT SUM(l_extendedprice * (1 - l_discount)) FROM lineitem",
    "SELECT SUM(CHAR_LENGTH(l_comment)) FROM lineitem",
    "SELECT COUNT(*) FROM lineitem WHERE l_shipdate <= DATE '1995-06-17'",
    "SELECT SUM(o_totalprice) FROM orders",
    "SELECT SUM(CHAR_LENGTH(ps_comment)) FROM partsupp",
    "SELECT SUM(c_acctbal) FROM customer",
)


@dataclasses.dataclass
class Found:
    """What was found on one server."""

    driver: str
    server: str
    settings: str = ""
    loads: dict = dataclasses.field(default_factory=lambda: {TIDEMARK: [], "native": []})


class Server:
    """One server and its clients."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        server = clients.target
        self.name = target.server_version(server, clients.secrets)
        self.tpch = Tpch(clients.programs.tidemark, server, clients.folder, plan.scale)
        self.native = NativeLoader(server, clients.secrets, TABLES, SUMS)
        settings = ", ".join(target.server_settings(server, clients.secrets))
        self.found = Found(server.driver, self.name, settings)
        self.loaded = False

    def load(self):
        """By Tidemark; what it took."""
        # Tables that a failure leaves are Tidemark's, too.
        self.loaded = True
        return self.tpch.prepare(self.plan.threads)

    def drop(self):
        """Drops what is there of Tidemark's."""
        if self.loaded:
            self.tpch.cleanup()
            self.loaded = False

    def prepare(self):
        """Loads in turn by Tidemark and by the server's own client, from files with the same rows."""
        files = pathlib.Path(self.clients.folder, f"tpch-csv-{self.found.driver}")
        self.say(f"{self.name}: loading once, for the tables as Tidemark makes them")
        self.load()
        self.native.learn()
        self.drop()
        self.tpch.write_csv(self.plan.threads, files)
        try:
            for number in range(self.plan.pairs):
                load_in_turn(
                    self.found.loads,
                    number % 2 == 1,
                    (self.load, self.drop),
                    self.native,
                    (files, self.plan.threads),
                    lambda: None,
                )
                self.say(report.load_line(self.found))
        finally:
            shutil.rmtree(files, ignore_errors=True)


def measure(programs, urls, plan, say):
    """All servers; what was found."""
    found = []
    for driver, url in urls.items():
        with reached(programs, url, driver) as clients:
            refuse_existing(clients, TABLES)
            server = Server(clients, plan, say)
            with dropping(server.drop):
                say(f"\n{server.name}")
                server.prepare()
            found.append(server.found)
    return found
