"""The command line, and the order of the work."""

import argparse

from session_costs.command import servers
from tpcc_costs.command import programs_of
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    add_servers,
    positive,
    progress_of,
    run,
)

from . import report
from .bench import FIELDS, measure


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/ycsb",
        description="Prints the client CPU that Tidemark takes for an operation of YCSB's workload "
        "c (reads of one record of ten fields of a hundred bytes), over that of a bare socket loop "
        "that reads the same records of the same table in the same run. Without --mysql or "
        "--postgres it starts servers of its own (scripts/servers) and stops them at the end.",
    )
    add_servers(p)
    p.add_argument("--pairs", type=positive, help="pairs of runs, in turn (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    p.add_argument("--threads", type=positive, help="sessions of either client (16)")
    p.add_argument("--records", type=positive, help="records of the table (100,000)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--bare-loop", "likewise the bare loop")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.pairs = args.pairs or (1 if small else 5)
        self.seconds = args.time or (1 if small else 10)
        self.threads = args.threads or (4 if small else 16)
        self.records = args.records or (500 if small else 100_000)


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def measure_all(args, plan):
    """The pairs on all servers; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    programs = programs_of(args)
    with servers(args, say, []) as urls:
        found = measure(programs, urls, plan, say)
    settings = [f"{one.server}: {one.settings}." for one in found]
    how = [
        f"{plan.pairs} {'pair' if plan.pairs == 1 else 'pairs'} of runs of {plan.seconds} s, in "
        f"turn; {plan.threads} sessions, {plan.records:,} records of {FIELDS} × 100 bytes.",
    ]
    text = facts.markdown(programs.tidemark, settings, how)
    return f"{text}\n\n{report.figures_table(found)}"
