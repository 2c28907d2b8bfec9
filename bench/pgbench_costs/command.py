"""The command line, and the order of the work."""

import argparse

from live_costs.command import program_of
from session_costs.command import servers
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    positive,
    positive_list,
    progress_of,
    run,
)

from . import report
from .bench import measure


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/pgbench",
        description="Prints the client CPU per transaction and the throughput of Tidemark over "
        "those of pgbench, of select-only (-S) and tpcb-like with prepared statements on the same "
        "tables, in pairs of runs in turn, each with what is to be reached. Without --postgres it "
        "starts a server of its own (scripts/servers) and stops it at the end.",
    )
    p.add_argument("--postgres", metavar="URL",
                   help="a PostgreSQL server to measure against; @FILE reads the URL from a file, "
                   "so that the password stands in no process list")
    p.set_defaults(mysql=None)
    p.add_argument("--pairs", type=positive, help="pairs of runs, in turn (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    p.add_argument("--clients", type=positive_list, help="sessions of either client (16,64,256)")
    p.add_argument("--scale", type=positive, help="scaling factor (10)")
    p.add_argument("--scheduling", choices=["batch", "normal"], default="batch",
                   help="scheduling class of Tidemark's threads (batch)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--bare-loop", "not used: it is not run here")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.pairs = args.pairs or (1 if small else 5)
        self.seconds = args.time or (1 if small else 10)
        self.clients = args.clients or ([4] if small else [16, 64, 256])
        self.scale = args.scale or (1 if small else 10)
        self.scheduling = args.scheduling


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def measure_all(args, plan):
    """The pairs; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    programs = program_of(args)
    with servers(args, say, []) as urls:
        found = measure(programs, urls["pgsql"], plan, say)
    how = [
        f"{plan.pairs} {'pair' if plan.pairs == 1 else 'pairs'} of runs of {plan.seconds} s, in "
        f"turn; scaling factor {plan.scale}, -M prepared; scheduling {plan.scheduling}.",
    ]
    text = facts.markdown(programs.tidemark, [f"{found.server}: {found.settings}."], how)
    return f"{text}\n\n{report.figures_table(found)}"
