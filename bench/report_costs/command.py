"""The command line, and the order of the work."""

import argparse

from vs_sysbench import machine
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    positive,
    progress_of,
    run,
)

from . import report
from .bench import measure


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/report",
        description="Prints the time and the memory that `tidemark report` takes for one page of "
        "many long runs, and how large the page is. The runs are made up (a thread sweep with "
        "repeats, an interval a second), and put into a store as runs are.",
    )
    p.add_argument("--runs", type=positive, help="runs of the study (100)")
    p.add_argument("--intervals", type=positive, help="intervals of a run (600)")
    p.add_argument("--repeats", type=positive, help="reports that are made in turn (5)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--made-up-study", "likewise the program that makes the runs")
    add_output_options(p)
    return p


class Plan:
    """How much is made, and how often it is reported."""

    def __init__(self, args):
        small = args.smoke
        self.runs = args.runs or (8 if small else 100)
        self.intervals = args.intervals or (20 if small else 600)
        self.repeats = args.repeats or (1 if small else 5)


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def programs_of(args):
    """The programs named, or built."""
    return machine.programs(args.smoke, {"tidemark": args.tidemark}, {"made-up-study": args.made_up_study})


def measure_all(args, plan):
    """The figures as text."""
    facts = Facts(args)
    tidemark, made_up = programs_of(args)
    found = measure(tidemark, made_up, plan, progress_of(args))
    how = [
        f"{plan.runs} runs of {plan.intervals} intervals, {found.store_bytes / 1e6:,.0f} MB of "
        f"store; {plan.repeats} {'report' if plan.repeats == 1 else 'reports'} in each language, "
        "in turn.",
    ]
    return f"{facts.markdown(tidemark, [], how)}\n\n{report.figures_table(found)}"
