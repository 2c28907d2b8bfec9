"""The command line, and the order of the work."""

import argparse

from session_costs.command import servers
from vs_sysbench import machine
from vs_sysbench.clients import Programs, Size
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

from . import report, terminal
from .bench import QUIET_RATE, measure

WORKLOADS = ("oltp_point_select", "oltp_read_write")


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/live",
        description="Prints what it costs a run's throughput to be watched and kept: runs with a "
        "record, lines every second and the view on a terminal, over runs with none of these, in "
        "turn on the same tables. Without --mysql or --postgres it starts servers of its own "
        "(scripts/servers) and stops them at the end.",
    )
    add_servers(p)
    p.add_argument("--workloads", type=names_of(WORKLOADS), default=list(WORKLOADS),
                   metavar="LIST", help=f"of {','.join(WORKLOADS)} (both)")
    p.add_argument("--pairs", type=positive, help="pairs of runs, in turn (40)")
    p.add_argument("--time", type=positive, help="seconds of a run (3)")
    p.add_argument("--sessions", type=positive, help="sessions (16)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.workloads = args.workloads
        self.pairs = args.pairs or (1 if small else 40)
        self.cost_pairs = min(self.pairs, 5)
        self.seconds = args.time or (1 if small else 3)
        self.sessions = args.sessions or (4 if small else 16)
        self.run_size = Size(4, 500 if small else 25_000)
        self.load_threads = 4


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def program_of(args):
    """What is measured, built unless it is given."""
    [tidemark] = machine.programs(args.smoke, {"tidemark": args.tidemark})
    return Programs(tidemark, None)


def measure_all(args, plan):
    """The pairs on all servers; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    programs = program_of(args)
    with servers(args, say, []) as urls:
        found, costs = measure(programs, urls, plan, say)
    how = [
        f"{plan.pairs} {'pair' if plan.pairs == 1 else 'pairs'} of runs of {plan.seconds} s, in "
        f"turn; {plan.sessions} sessions, 4 tables of {plan.run_size.rows:,} rows; the view fills "
        f"a terminal of {terminal.COLUMNS} × {terminal.ROWS}.",
    ]
    text = facts.markdown(programs.tidemark, [], how)
    return (
        f"{text}\n\n{report.figures_table(found)}\n\n"
        f"Processor time of runs of {plan.seconds} s with {QUIET_RATE} transactions a second, "
        f"{plan.cost_pairs} of each in turn:\n\n{report.costs_table(costs)}"
    )
