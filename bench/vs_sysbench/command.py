"""The command line, and the order of the work."""

import argparse
import contextlib
import dataclasses
import datetime
import os
import shutil
import sys
import tempfile

from . import launch, machine, report, target
from .clients import (
    BARE,
    BEFORE,
    NORMAL,
    ONE_TABLE,
    PGBENCH,
    SYSBENCH,
    TIDEMARK,
    Clients,
    Size,
)
from .errors import BenchError
from .script import add_output_options, add_program, names_of, positive, positive_list, run

NAMES = {"mysql": "MySQL protocol", "pgsql": "PostgreSQL protocol"}
WORKLOADS = ("oltp_point_select", "oltp_read_write", "prepare")
PGBENCH_TABLES = [f"pgbench_{n}" for n in ("accounts", "branches", "history", "tellers")]
# Not counted: fills the server's caches.
WARM_UP_S = 3


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/vs-sysbench",
        description="Runs Tidemark, sysbench, pgbench and the bare socket loop in turn against one "
        "server and prints what each cost its client host: CPU per query as the operating system "
        "counts it, resident memory, throughput, and the wall time of loading; then Tidemark's "
        "ratios with what is to be reached. Without --mysql or --postgres it starts servers of "
        "its own (scripts/servers) and stops them at the end.",
    )
    p.add_argument("--mysql", metavar="URL",
                   help="a MySQL or MariaDB server to measure against; @FILE reads the URL from a "
                   "file, so that the password stands in no process list")
    p.add_argument("--postgres", metavar="URL", help="a PostgreSQL server, likewise")
    p.add_argument("--pairs", type=positive, help="runs of each client (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    p.add_argument("--sessions", type=positive_list, help="session counts in turn (16,256)")
    p.add_argument("--workloads", type=names_of(WORKLOADS), default=list(WORKLOADS), metavar="LIST",
                   help=f"of {','.join(WORKLOADS)} (all)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--bare-loop", "likewise the bare loop")
    add_program(p, "--before", "another build of Tidemark, which runs in turn with the others")
    p.add_argument("--normal", action="store_true",
                   help="also run Tidemark with --scheduling=normal, in turn with the others")
    p.add_argument("--few", action="store_true",
                   help="of the others run sysbench alone, neither pgbench nor the bare loop")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.pairs = args.pairs or (1 if small else 5)
        self.seconds = args.time or (1 if small else 10)
        self.warm_up_s = 1 if small else WARM_UP_S
        self.sessions = args.sessions or ([4] if small else [16, 256])
        self.run_size = Size(4, 500 if small else 25_000)
        self.load_size = Size(4, 2_000 if small else 250_000)
        self.load_threads = 4
        self.workloads = args.workloads
        self.normal, self.few, self.before = args.normal, args.few, args.before is not None


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def measure_all(args, plan):
    """Every server and workload; the tables as one text."""
    progress = sys.stderr if args.markdown else sys.stdout

    def say(text):
        print(text, file=progress, flush=True)

    load_before = os.getloadavg()[0]
    programs = machine.clients(args.smoke, args.tidemark, args.bare_loop, args.before)
    others = [shutil.which(name) for name in ("sysbench", "pgbench")]
    ours = dataclasses.astuple(programs)
    launch.read_from_disk([program for program in (*ours, *others) if program])
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-bench."))
        urls = {"mysql": args.mysql, "pgsql": args.postgres}
        if not any(urls.values()):
            say("starting servers")
            urls = stack.enter_context(machine.OwnServers(args.smoke)).urls
        facts = ["A smoke test: these figures mean nothing."] if args.smoke else []
        facts += [
            f"Measured on {datetime.date.today().isoformat()} on {machine.describe()}; "
            f"load average before: {load_before:.2f}.",
            f"Clients: {'; '.join(machine.versions(programs, ours=args.tidemark is None))}.",
        ]
        sections = []
        for driver, url in urls.items():
            if url:
                server = target.from_url(url, driver)
                secrets = target.Secrets(server, folder)
                name = target.server_version(server, secrets)
                settings = ", ".join(target.server_settings(server, secrets))
                facts.append(f"{name}, over TCP to {server.host}: {settings}.")
                say(f"\n{name}")
                clients = Clients(programs, server, secrets, folder)
                sections += measure_server(clients, name, plan, say)
        facts += method(plan)
    return "\n".join(f"- {fact}" for fact in facts) + "\n\n" + "\n\n".join(sections)


def method(plan):
    """How the figures came about, in sentences."""
    size, rounds = plan.run_size, "pair" if plan.pairs == 1 else "pairs"
    floor = launch.floor_bytes() / (1 << 20)
    return [
        f"{plan.pairs} {rounds} of runs of {plan.seconds} s, in turn; {size.tables} tables of "
        f"{size.rows:,} rows (pgbench: its own of 100,000), uniform ids.",
        f"No process is shown with less memory than {floor:.1f} MiB. Programs were read from disk.",
    ]


def measure_server(clients, name, plan, say):
    """The workloads on one server; a section of tables for each."""
    sections = []
    kinds = [w for w in plan.workloads if w != "prepare"]
    if kinds:
        with tables(clients, plan, "oltp_point_select" in kinds):
            warm_up = ("oltp_point_select", plan.run_size, plan.sessions[0], plan.warm_up_s)
            clients.run(SYSBENCH, *warm_up)
            for kind in kinds:
                found = measure_workload(clients, kind, plan, say)
                sections.append(f"### {name}, `{kind}`\n\n{report.costs_table(found)}")
                sections.append(report.latency_table(found))
                sections.append(report.like_table(found))
                reasons = report.p95_reasons(found)
                sections += [reasons] if reasons else []
                pairs = [(TIDEMARK, SYSBENCH), (NORMAL, SYSBENCH), (BEFORE, SYSBENCH),
                         (TIDEMARK, BEFORE), (ONE_TABLE, PGBENCH)]
                ran = next(iter(found.values()))
                sections += [report.ratios_table(found, ours, against) for ours, against in pairs
                             if ours in ran and against in ran]
    if "prepare" in plan.workloads:
        size = plan.load_size
        found = measure_loading(clients, plan, say)
        title = f"`prepare` of {size.tables} × {size.rows:,} rows with {plan.load_threads} threads"
        sections.append(f"### {name}, {title}\n\n{report.load_table(found)}")
    return sections


def measure_workload(clients, workload, plan, say):
    """Sessions -> client -> samples; in every round each client runs once, and every second round
    in the opposite order, so that a drift of the machine or the server falls on all alike."""
    names = [TIDEMARK, SYSBENCH]
    names += [BEFORE] if plan.before else []
    names += [NORMAL] if plan.normal else []
    if workload == "oltp_point_select" and not plan.few:
        names += [ONE_TABLE, PGBENCH, BARE] if clients.target.driver == "pgsql" else [BARE]
    found = {}
    for sessions in plan.sessions:
        by_client = found[sessions] = {name: [] for name in names}
        for number in range(plan.pairs):
            for name in names if number % 2 == 0 else reversed(names):
                sample = clients.run(name, workload, plan.run_size, sessions, plan.seconds)
                by_client[name].append(sample)
            line = report.pair_line({n: s[-1] for n, s in by_client.items()})
            say(f"{workload}, {sessions} sessions, {number + 1}/{plan.pairs}: {line}")
    return found


def measure_loading(clients, plan, say):
    """Client -> samples of `prepare`; each client drops what it made, and the order alternates."""
    size, names = plan.load_size, [TIDEMARK, SYSBENCH]
    refuse_existing(clients, table_names(size))
    found = {name: [] for name in names}
    for number in range(plan.pairs):
        for name in names if number % 2 == 0 else reversed(names):
            with dropping(lambda client=name: clients.cleanup(client, size)):
                found[name].append(clients.prepare(name, size, plan.load_threads))
                check_rows(clients, size, name)
        line = report.load_line({n: s[-1] for n, s in found.items()})
        say(f"prepare, {number + 1}/{plan.pairs}: {line}")
    return found


def check_rows(clients, size, name):
    """A load that left rows out would be quick."""
    for table in table_names(size):
        sql = f"SELECT COUNT(*) FROM {table}"
        rows = int(target.query(clients.target, clients.secrets, sql)[0])
        if rows != size.rows:
            raise BenchError(f"{name} left {rows} rows in {table}, not {size.rows}")


def table_names(size):
    """The tables of a size."""
    return [f"sbtest{n}" for n in range(1, size.tables + 1)]


def refuse_existing(clients, names):
    """Tables that are there already may be somebody's: they are never taken or dropped."""
    found = target.existing_tables(clients.target, clients.secrets, names)
    if found:
        raise BenchError(
            f"the database {clients.target.database} has {', '.join(sorted(found))} already; "
            "name a database without such tables"
        )


@contextlib.contextmanager
def tables(clients, plan, with_pgbench):
    """The tables to run on, made by sysbench (and pgbench) and dropped again."""
    with_pgbench = with_pgbench and clients.target.driver == "pgsql"
    names = table_names(plan.run_size)
    refuse_existing(clients, names + (PGBENCH_TABLES if with_pgbench else []))

    def drop():
        clients.cleanup(SYSBENCH, plan.run_size)
        if with_pgbench:
            clients.pgbench_tables("d")

    with dropping(drop):
        clients.prepare(SYSBENCH, plan.run_size, plan.load_threads)
        if with_pgbench:
            clients.pgbench_tables("dtgvp")
        yield


@contextlib.contextmanager
def dropping(drop):
    """Drops tables at the end; a failure before it is the one that is told."""
    try:
        yield
    except BaseException:
        try:
            drop()
        except BenchError as error:
            print(f"bench/vs-sysbench: tables may be left: {error}", file=sys.stderr)
        raise
    drop()
