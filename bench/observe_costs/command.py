"""The command line, and the order of the work."""

import argparse

from live_costs.command import program_of
from session_costs.command import servers
from vs_sysbench.clients import Size
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    add_servers,
    names_of,
    positive,
    progress_of,
    run,
)

from . import report
from .bench import QUIET_RATE, STATEMENTS_TOO, WORKLOADS, measure


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/observe",
        description="Prints what observing costs: throughput of runs with everything observed over "
        "runs with nothing observed, in turn on the same tables; CPU of observing on client and "
        "server, and the size of a record by its parts, of a long run; what was sampled beside the "
        "server's own totals (times of waits where MariaDB has performance_schema on). The servers "
        "have to be on this host. Without --mysql or --postgres it starts servers of its own "
        "(scripts/servers), which count statements, and stops them at the end.",
    )
    add_servers(p)
    p.add_argument("--workloads", type=names_of(WORKLOADS), default=list(WORKLOADS),
                   metavar="LIST", help=f"of {','.join(WORKLOADS)} (both)")
    p.add_argument("--pairs", type=positive, help="pairs, of two runs of each kind (20)")
    p.add_argument("--time", type=positive, help="seconds of a run (5)")
    p.add_argument("--long", type=positive, metavar="SECONDS",
                   help="seconds of the run whose record and CPU are measured (600)")
    p.add_argument("--totals", type=positive, metavar="SECONDS",
                   help="seconds of the run that is compared with the server's totals (60)")
    p.add_argument("--sessions", type=positive, help="sessions (16)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.workloads = args.workloads
        # Else they are the user's servers, in which nothing is created beside the tables.
        self.is_own = not (args.mysql or args.postgres)
        self.pairs = args.pairs or (1 if small else 20)
        self.seconds = args.time or (1 if small else 5)
        self.long_seconds = args.long or (3 if small else 600)
        self.totals_seconds = args.totals or (3 if small else 60)
        self.sessions = args.sessions or (4 if small else 16)
        self.run_size = Size(4, 500 if small else 25_000)
        self.warehouses = 1 if small else 4
        self.load_threads = 4


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def measure_all(args, plan):
    """The pairs on all servers, and the long runs; the tables as text."""
    say = progress_of(args)
    facts = Facts(args)
    programs = program_of(args)
    with servers(args, say, STATEMENTS_TOO) as urls:
        found, costs, compared, shares = measure(programs, urls, plan, say)
    how = [
        f"{plan.pairs} {'pair' if plan.pairs == 1 else 'pairs'} of two runs of {plan.seconds} s "
        f"each, one kind around the other; {plan.sessions} sessions, 4 tables of "
        f"{plan.run_size.rows:,} rows, "
        f"{plan.warehouses} {'warehouse' if plan.warehouses == 1 else 'warehouses'}.",
    ]
    text = facts.markdown(programs.tidemark, [], how)
    return (
        f"{text}\n\n{report.figures_table(found)}\n\n"
        f"A run of {plan.long_seconds} s with {QUIET_RATE} transactions per second:\n\n"
        f"{report.costs_table(costs)}\n\n"
        f"Of its record:\n\n{report.parts_table(costs)}\n\n"
        f"What was sampled beside the server's totals, in a run of {plan.totals_seconds} s of "
        f"`oltp_read_write`:\n\n{report.compared_table(compared)}\n\n"
        f"What observing took of the host in that run:\n\n{report.shares_table(shares)}"
    )
