"""The parts: what is run on which server."""

import contextlib
import dataclasses
import pathlib
import shutil
import threading

from session_costs.bench import reached
from vs_sysbench import clients as vs
from vs_sysbench import target
from vs_sysbench.clients import BARE, TIDEMARK
from vs_sysbench.command import dropping, refuse_existing, table_names
from vs_sysbench.errors import BenchError

from . import report
from .client import Tpcc
from .figures import LINES, efficiency
from .native import NativeLoader, load_in_turn

TABLES = (
    "item",
    "warehouse",
    "stock",
    "district",
    "customer",
    "history",
    "orders",
    "new_order",
    "order_line",
)
POINT_SELECT = "oltp_point_select"
FEWEST_COUNTED = 25
PROBE_S = 1
# One order in eleven has ten lines.
MOST_SEEDS = 500


@dataclasses.dataclass
class Found:
    """What was found on one server."""

    driver: str
    server: str
    settings: str = ""
    loads: dict = dataclasses.field(default_factory=lambda: {TIDEMARK: [], "native": []})
    checks: dict = dataclasses.field(default_factory=dict)
    mixes: list = dataclasses.field(default_factory=list)
    bare: list = dataclasses.field(default_factory=list)
    # The bare loop with queries that keep the server as busy: rows that each counts, and runs.
    busy_rows: int = 0
    busy: list = dataclasses.field(default_factory=list)
    new_orders: dict = dataclasses.field(default_factory=dict)
    crowds: list = dataclasses.field(default_factory=list)
    efficiency: object = None


class Server:
    """One server and its clients."""

    def __init__(self, clients, plan, say):
        self.clients, self.plan, self.say = clients, plan, say
        server = clients.target
        self.name = target.server_version(server, clients.secrets)
        self.tpcc = Tpcc(clients.programs.tidemark, server, clients.folder)
        self.native = NativeLoader(server, clients.secrets, TABLES)
        settings = ", ".join(target.server_settings(server, clients.secrets))
        self.found = Found(server.driver, self.name, settings)
        # Warehouses that are loaded by Tidemark; 0 when the tables are not there.
        self.loaded = 0

    def have(self, warehouses):
        """Loads so many warehouses, unless they are there."""
        if self.loaded != warehouses:
            self.drop()
            self.say(f"{self.name}: loading {warehouses} warehouses")
            self._load(warehouses)

    def _load(self, warehouses):
        # Tables that a failure leaves are Tidemark's, too.
        self.loaded = warehouses
        return self.tpcc.prepare(warehouses, self.plan.load_threads)

    def drop(self):
        """Drops what is there of Tidemark's."""
        if self.loaded:
            self.tpcc.cleanup(self.loaded)
            self.loaded = 0

    def prepare(self):
        """Loads in turn by Tidemark and by the server's own client, from files with the same rows."""
        warehouses = self.plan.load_warehouses
        files = pathlib.Path(self.clients.folder, f"csv-{self.found.driver}")
        self.have(warehouses)
        self.native.learn()
        self.drop()
        self.tpcc.write_csv(warehouses, self.plan.load_threads, files)
        try:
            for number in range(self.plan.pairs):
                self._load_pair(files, number % 2 == 1)
        finally:
            shutil.rmtree(files, ignore_errors=True)

    def _load_pair(self, files, reverse):
        plan = self.plan
        load_in_turn(
            self.found.loads,
            reverse,
            (lambda: self._load(plan.load_warehouses), self.drop),
            self.native,
            (files, plan.load_threads),
            # As good as Tidemark's: files misread would be quick, too.
            lambda: self.tpcc.check(plan.load_warehouses, plan.load_threads),
        )
        self.say(report.load_line(self.found))

    def check(self):
        """Asks all conditions, by one session and by several."""
        self.have(self.plan.load_warehouses)
        for threads in self.plan.check_threads:
            checked = [
                self.tpcc.check(self.plan.load_warehouses, threads) for _ in range(self.plan.runs)
            ]
            self.found.checks[threads] = checked
            self.say(report.check_line(self.found, threads))

    def mix(self):
        """The whole mix beside the bare loop, in turn."""
        self.have(self.plan.warehouses)
        plan, size = self.plan, self.plan.bare_size
        terminals = plan.mix_terminals
        with dropping(lambda: self.clients.cleanup(TIDEMARK, size)):
            self.clients.prepare(TIDEMARK, size, plan.load_threads)
            warm = self.tpcc.run(plan.warehouses, terminals, plan.warm_up)
            self.found.busy_rows = self._as_busy(warm.sample.per_second, size, terminals)
            for number in range(plan.pairs):
                for who in (TIDEMARK, BARE) if number % 2 == 0 else (BARE, TIDEMARK):
                    if who == TIDEMARK:
                        run = self.tpcc.run(plan.warehouses, terminals, plan.seconds)
                        self.found.mixes.append(run)
                    else:
                        run = self.clients.run(BARE, POINT_SELECT, size, terminals, plan.seconds)
                        self.found.bare.append(run)
                        rows = self.found.busy_rows
                        run = self.clients.bare_count(rows, size, terminals, plan.seconds)
                        self.found.busy.append(run)
                self.say(report.mix_line(self.found))

    def _as_busy(self, per_second, size, sessions):
        """Rows that a query of the bare loop counts to take the server nearly as long as a statement
        of the mix: with twice as many it would send fewer than so many queries a second."""
        rows = FEWEST_COUNTED
        while 2 * rows <= size.rows:
            probe = self.clients.bare_count(2 * rows, size, sessions, PROBE_S)
            if probe.per_second < per_second:
                break
            rows *= 2
        return rows

    def new_order(self):
        """Statements of single New-Orders of ten lines, batched and one by one."""
        self.have(self.plan.warehouses)
        found, ways = {"batched": [], "single": []}, ("batched", "single")
        for seed in range(1, MOST_SEEDS):
            counts = [self.tpcc.one_new_order(self.plan.warehouses, seed, ways[0])]
            # The same seed types the same order.
            if counts[0] is not None:
                counts.append(self.tpcc.one_new_order(self.plan.warehouses, seed, ways[1]))
                for how, count in zip(ways, counts):
                    found[how].append(count)
            if len(found[ways[0]]) == self.plan.new_orders:
                break
        else:
            raise BenchError(f"no order of {LINES} lines came of {MOST_SEEDS} seeds")
        if None in found[ways[1]]:
            raise BenchError("a seed typed another order when statements were single")
        self.found.new_orders = found
        self.say(report.new_order_line(self.found))

    def terminals(self):
        """Very many terminals that think, on fewer sessions."""
        self.have(self.plan.warehouses)
        plan = self.plan
        for _ in range(plan.runs):
            options = ["--wait", f"--connections={plan.connections}"]
            run = self.tpcc.run(plan.warehouses, plan.terminals, plan.crowd_seconds, *options)
            self.found.crowds.append(run)
            self.say(report.crowd_line(self.found, plan))

    def efficiency(self):
        """Ten terminals for each warehouse, that think."""
        plan, runs = self.plan, []
        for _ in range(plan.efficiency_runs):
            options = [*plan.efficiency_waits, f"--warmup={plan.efficiency_warm_up}s"]
            terminals = 10 * plan.warehouses
            runs.append(
                self.tpcc.run(plan.warehouses, terminals, plan.efficiency_seconds, *options)
            )
            self.found.efficiency = efficiency(runs, plan.warehouses)
            self.say(report.efficiency_line(self.found))


def measure(programs, urls, plan, parts, say):
    """All parts on each server; what was found."""
    with contextlib.ExitStack() as stack:
        servers = []
        for driver, url in urls.items():
            clients = stack.enter_context(reached(programs, url, driver))
            names = table_names(plan.bare_size) if "mix" in parts else []
            refuse_existing(clients, [*TABLES, *names])
            servers.append(Server(clients, plan, say))
        for server in servers:
            stack.enter_context(dropping(server.drop))
        # In the order in which the fewest loads serve all.
        for server in servers:
            runs = {
                "mix": server.mix,
                "new-order": server.new_order,
                "terminals": server.terminals,
            }
            alone(server, runs, parts)
        if "efficiency" in parts:
            say("\nTerminals that think, on all servers at the same time")
            for server in servers:
                server.have(plan.warehouses)
            together([server.efficiency for server in servers])
        for server in servers:
            alone(server, {"check": server.check, "prepare": server.prepare}, parts)
        return [server.found for server in servers]


def alone(server, works, parts):
    """The parts that are asked for, one after the other."""
    wanted = [measured for part, measured in works.items() if part in parts]
    if wanted:
        server.say(f"\n{server.name}")
    for measured in wanted:
        measured()


def together(works):
    """Does some things at the same time; the first error is raised when all have ended."""
    errors = []

    def do(work):
        try:
            work()
        except Exception as error:  # raised below, in the thread that can end the program
            errors.append(error)

    threads = [threading.Thread(target=do, args=[work], daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
