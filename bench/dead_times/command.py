"""The command line, and the order of the work."""

import argparse
import contextlib
import pathlib
import tempfile

from vs_sysbench import machine
from vs_sysbench.report import table
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    names_of,
    positive,
    positive_list,
    progress_of,
    run,
)

from .runs import ENGINES, SIDES, Runs

BEGIN = "<!-- dead-time: written by bench/dead-time --write-readme -->"
END = "<!-- end of dead-time -->"
#: The rule that tells of each side.
RULES = {"server": "stall", "client": "client-stopped"}


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/dead-time",
        description="Stops the server (SIGSTOP; for SQLite another process takes its lock) or the "
        "client (SIGSTOP) for a part of a run, and counts how often the run's findings tell it, on "
        "the right side; and how often runs in which nothing was stopped tell of dead time. Starts "
        "servers of its own (scripts/servers).",
    )
    p.add_argument("--engines", type=names_of(ENGINES), default=list(ENGINES), metavar="LIST",
                   help=f"of {','.join(ENGINES)} (all)")
    p.add_argument("--lengths", type=positive_list, metavar="LIST",
                   help="seconds to stop for (1,2,3,4,5,6,7,8,9)")
    p.add_argument("--repeats", type=positive, help="runs of each case (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    add_program(p, "--tidemark", "the program to run, instead of building this workspace's")
    add_output_options(p)
    return p


class Plan:
    """What is run, and how often."""

    def __init__(self, args):
        small = args.smoke
        self.engines = args.engines
        self.seconds = args.time or (3 if small else 10)
        self.lengths = args.lengths or ([1] if small else list(range(1, 10)))
        self.repeats = args.repeats or (1 if small else 5)
        #: As many runs are left alone as one length of both sides has.
        self.clean = self.repeats * (1 if small else 2)


def main():
    """Runs the command; its exit code."""
    return run(parser(), lambda args: measure_all(args, Plan(args)), (BEGIN, END))


def measure_all(args, plan):
    """All cases on all engines; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    program = args.tidemark
    if program is None:
        program = machine.build_packages(args.smoke, ["tidemark"]) / "tidemark"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tidemark-dead-time."))
        servers = None
        if set(plan.engines) - {"sqlite"}:
            say("\nstarting servers")
            servers = stack.enter_context(machine.OwnServers(args.smoke))
        rows = []
        for engine in plan.engines:
            runs = Runs(program.resolve(), engine, servers, pathlib.Path(folder), plan)
            runs.prepare()
            rows += measure_engine(runs, engine, plan, say)
    how = [
        f"Runs of {plan.seconds} s with 4 sessions; a stop begins 0.5 s after the load and is as long "
        "as its row says, or until the load's end at the latest where it is longer.",
    ]
    text = facts.markdown(program, [], how)
    heads = ["engine", "stopped", "for", "runs", "told, right side", "told also on the other side",
             "seconds told"]
    return f"{text}\n\n{table(heads, rows)}"


def measure_engine(runs, engine, plan, say):
    """One engine's rows."""
    rows = []
    for side in SIDES:
        for length in plan.lengths:
            told = [runs.one(side, length) for _ in range(plan.repeats)]
            other = [rule for s, rule in RULES.items() if s != side][0]
            right = sum(RULES[side] in found for found in told)
            wrong = sum(other in found for found in told)
            seconds = sorted(found.get(RULES[side], 0.0) for found in told)
            rows.append([engine, side, f"{length} s", str(len(told)), f"{right} of {len(told)}",
                         str(wrong), f"{seconds[0]:.1f}–{seconds[-1]:.1f}"])
            say(" | ".join(rows[-1]))
    clean = [runs.one(None, 0) for _ in range(plan.clean)]
    false = sum(bool(set(found) & set(RULES.values())) for found in clean)
    rows.append([engine, "nothing", "–", str(len(clean)), f"{false} false alarms", "–", "–"])
    say(" | ".join(rows[-1]))
    return rows
