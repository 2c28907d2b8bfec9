"""The command line, and the order of the work."""

import argparse
import contextlib
import datetime
import os
import resource
import sys

from vs_sysbench import launch, machine
from vs_sysbench.clients import Programs, Size
from vs_sysbench.script import (
    add_output_options,
    add_program,
    names_of,
    positive,
    positive_list,
    run,
)

from . import pgbouncer, report
from .bench import Bench

CROWDS, PAIRS = ("many", "terminals"), ("bare-loop", "sysbench")
PARTS = (*CROWDS, *PAIRS, "recording")
parts = names_of(PARTS)


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/sessions",
        description="Prints what Tidemark takes from its host with very many sessions and very "
        "many terminals, its CPU per query over a bare socket loop's and over sysbench's with "
        "1,000 sessions, and the cost of recording one latency, each with what is to be reached. "
        "Without --mysql or --postgres it starts servers of its own (scripts/servers), MariaDB "
        "with its pool of threads where sessions are very many, and stops them at the end.",
    )
    p.add_argument("--mysql", metavar="URL",
                   help="a MySQL or MariaDB server to measure against, with max_connections "
                   "enough; @FILE reads the URL from a file, so that the password stands in no "
                   "process list")
    p.add_argument("--postgres", metavar="URL",
                   help="a PostgreSQL server, likewise; a pgbouncer is started before it")
    p.add_argument("--parts", type=parts, default=list(PARTS), metavar="LIST",
                   help=f"of {','.join(PARTS)} (all)")
    p.add_argument("--many", type=positive, help="sessions of the part many (10,000)")
    p.add_argument("--pgbouncer", type=positive, help="sessions through pgbouncer (4,000)")
    p.add_argument("--connect-rate", type=positive, help="of them opened a second (2,000)")
    p.add_argument("--terminals", type=positive, help="terminals, on 200 sessions (100,000)")
    p.add_argument("--sessions", type=positive_list,
                   help="session counts beside the bare loop (16,64)")
    p.add_argument("--sysbench-sessions", type=positive, help="sessions beside sysbench (1,000)")
    p.add_argument("--runs", type=positive, help="runs with very many sessions or terminals (3)")
    p.add_argument("--pairs", type=positive, help="runs of each client in the other parts (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--bare-loop", "likewise the bare loop")
    add_program(p, "--lab", "likewise the laboratory (tidemark-lab)")
    add_program(p, "--recording", "likewise the program of bench/recording")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.many = args.many or (40 if small else 10_000)
        self.bounced = args.pgbouncer or (40 if small else 4_000)
        self.connect_rate = args.connect_rate or (200 if small else 2_000)
        self.terminals = args.terminals or (400 if small else 100_000)
        self.connections = 8 if small else 200
        self.think = "exp:500ms" if small else "exp:10s"
        self.bare_sessions = args.sessions or ([4] if small else [16, 64])
        self.sysbench_sessions = args.sysbench_sessions or (4 if small else 1_000)
        self.runs = args.runs or (1 if small else 3)
        self.pairs = args.pairs or (1 if small else 5)
        self.seconds = args.time or (1 if small else 10)
        # In less, most terminals would not have come around once.
        self.crowd_seconds = 1 if small else max(self.seconds, 10)
        self.run_size = Size(4, 500 if small else 25_000)
        self.load_threads = 4


def main():
    """Runs the command; its exit code."""

    def measure(args):
        # All that is started here inherits it: pgbouncer and the laboratory take what they find.
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return measure_all(args, Plan(args))

    return run(parser(), measure, (report.BEGIN, report.END), PARTS)


def programs_of(args):
    """What is measured: the clients, and the laboratory."""
    measured = {"tidemark": args.tidemark, "bare-loop": args.bare_loop}
    *clients, lab = machine.programs(args.smoke, measured, {"tidemark-lab": args.lab})
    return Programs(*clients), lab


def measure_all(args, plan):
    """All parts; the tables as one text."""
    progress = sys.stderr if args.markdown else sys.stdout

    def say(text):
        print(text, file=progress, flush=True)

    load_before = os.getloadavg()[0]
    programs, lab = programs_of(args)
    bench = Bench(programs, lab, plan, say)
    wanted = [[part for part in of if part in args.parts] for of in (CROWDS, PAIRS)]
    if wanted[0]:
        with servers(args, say, bench.settings()) as urls:
            bench.with_crowds(urls, wanted[0])
    if "many" in args.parts:
        bench.with_laboratory()
    if wanted[1]:
        with servers(args, say, []) as urls:
            bench.with_pairs(urls, wanted[1])
    costs = bench.recording(args.recording, args.smoke) if "recording" in args.parts else []
    facts = ["A smoke test: these figures mean nothing."] if args.smoke else []
    facts += [
        f"Measured on {datetime.date.today().isoformat()} on {machine.describe()}; "
        f"load average before: {load_before:.2f}.",
        f"Clients: {'; '.join(machine.versions(programs, ours=args.tidemark is None)[:2])}; "
        f"{pgbouncer.version()}; {'named' if args.mysql or args.postgres else 'own'} servers over "
        "TCP, clients on the same machine as pgbouncer and laboratory.",
        f"{plan.run_size.tables} tables of {plan.run_size.rows:,} rows, point selects, uniform ids.",
        f"No process is shown with less memory than {launch.floor_bytes() / (1 << 20):.1f} MiB.",
    ]
    text = "\n".join(f"- {fact}" for fact in facts)
    return "\n\n".join([text, *sections(bench, plan, costs)])


@contextlib.contextmanager
def servers(args, say, settings):
    """The user's servers, or some of this benchmark's own with these settings."""
    urls = {"mysql": args.mysql, "pgsql": args.postgres}
    if any(urls.values()):
        yield {driver: url for driver, url in urls.items() if url}
        return
    say("\nstarting servers")
    with machine.OwnServers(args.smoke, settings) as own:
        yield own.urls


def sections(bench, plan, costs):
    """A title and a table for each part that was run."""
    runs = f"{plan.runs} {'run' if plan.runs == 1 else 'runs'} of {plan.crowd_seconds} s"
    pairs = f"{plan.pairs} {'pair' if plan.pairs == 1 else 'pairs'} of {plan.seconds} s, in turn"
    for title, found, as_table in (
        (
            f"Very many sessions, all running point selects ({runs}, {plan.connect_rate:,} opened "
            "a second)",
            bench.many,
            report.crowds_table,
        ),
        (
            f"Very many terminals on fewer sessions ({runs}, think time `{plan.think}`)",
            bench.terminals,
            report.crowds_table,
        ),
        (f"CPU per query beside a bare socket loop ({pairs})", bench.bare, report.against_bare),
        (
            f"CPU per query beside sysbench with very many sessions ({pairs})",
            bench.sysbench,
            report.against_sysbench,
        ),
        ("Recording one latency", costs, report.recording_table),
    ):
        if found:
            yield f"### {title}\n\n{as_table(found)}"
