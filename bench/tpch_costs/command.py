"""The command line, and the order of the work."""

import argparse

from session_costs.command import servers
from vs_sysbench import machine
from vs_sysbench.clients import Programs
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    add_servers,
    memory_floor,
    positive,
    progress_of,
    run,
)

from . import report
from .bench import measure


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/tpch",
        description="Prints what loading TPC-H takes with Tidemark, each figure with what is to be "
        "reached: the time of prepare over the server's own bulk path fed with ready-made files of "
        "the same rows, and resident memory. Without --mysql or --postgres it starts servers of its "
        "own (scripts/servers) and stops them at the end.",
    )
    add_servers(p, ", with local_infile on")
    p.add_argument("--scale", type=float, help="scale factor (1)")
    p.add_argument("--threads", type=positive, default=4, help="sessions that load (4)")
    p.add_argument("--pairs", type=positive, help="pairs of loads (3)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        self.scale = args.scale or (0.01 if args.smoke else 1)
        self.threads = args.threads
        self.pairs = args.pairs or (1 if args.smoke else 3)


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def measure_all(args, plan):
    """All servers; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    tidemark = args.tidemark
    if tidemark is None:
        tidemark = machine.build_packages(args.smoke, ["tidemark"]) / "tidemark"
    programs = Programs(tidemark.resolve(), None)
    with servers(args, say, []) as urls:
        found = measure(programs, urls, plan, say)
    settings = [f"{one.server}: {one.settings}." for one in found]
    how = [
        f"{plan.pairs} pairs of loads, in turn; rows are generated within `prepare`, which also "
        "verifies them and refreshes the planner's statistics, and are ready-made files for the "
        "server's own client.",
        memory_floor(),
    ]
    text = facts.markdown(programs.tidemark, settings, how)
    return f"{text}\n\n{report.figures_table(found, plan)}"
