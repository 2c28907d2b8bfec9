"""The command line, and the order of the work."""

import argparse
import pathlib
import shutil

from vs_sysbench import machine
from vs_sysbench.errors import BenchError
from vs_sysbench.script import Facts, add_output_options, add_program, positive, progress_of, run

from . import report
from .bench import SYSBENCH, TIDEMARK, Runner


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/host-tests",
        description="Compares the results of Tidemark's tests of the machine (cpu, memory, fileio, "
        "threads, mutex) with those of sysbench 1.0.20, in pairs of runs in turn. Files are made in "
        "a folder of its own, which goes at the end.",
    )
    p.add_argument("--pairs", type=positive, help="pairs of runs, in turn (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (5)")
    p.add_argument("--folder", metavar="DIR", type=pathlib.Path,
                   help="where files are made (the working directory)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.pairs = args.pairs or (1 if small else 5)
        self.seconds = args.time or (1 if small else 5)
        self.folder = (args.folder or pathlib.Path(".")).resolve()
        self.files = 2 if small else 16
        self.file_size = "1M" if small else "256M"
        self.locks = 500 if small else 50_000


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers)


def measure_all(args, plan):
    """All pairs; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    sysbench = shutil.which("sysbench")
    if sysbench is None:
        raise BenchError("sysbench is needed: apt-get install sysbench")
    tidemark = args.tidemark
    if tidemark is None:
        tidemark = machine.build_packages(args.smoke, ["tidemark"]) / "tidemark"
    programs = {TIDEMARK: [tidemark.resolve(), "sysbench"], SYSBENCH: [sysbench]}
    found = Runner(programs, plan, say).compare()
    how = [
        f"{plan.pairs} {'pair' if plan.pairs == 1 else 'pairs'} of runs of {plan.seconds} s, in "
        f"turn; files: {plan.files} of {plan.file_size} together.",
        f"{machine.version([sysbench])}.",
    ]
    text = facts.markdown(tidemark, [], how)
    return f"{text}\n\n{report.figures_table(found)}"
