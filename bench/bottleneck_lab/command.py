"""The command line, and the order of the work."""

import argparse
import contextlib
import itertools
import os
import pathlib
import tempfile

from vs_sysbench import machine
from vs_sysbench.errors import BenchError
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    names_of,
    positive,
    progress_of,
    run,
)

from . import figures, report
from .causes import BY_NAME, CAUSES, DOSES, SLOW_RUN_S
from .experiment import Experiment, Kept, in_turn
from .pairs import HEALTHY, PAIRS
from .runs import Client
from .servers import ENGINES, Server
from .slow_disk import SlowDisk

SMOKE = ("network-distance", "slow-flush")
# The middle one first: where each cause is made once, it is the one.
IN_TURN = sorted(DOSES, key=lambda dose: dose != "middle")


def whole(text):
    """A whole number from 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: allowed is a whole number from 0, such as 5")
    return int(text)


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/bottlenecks",
        description="Makes known bottlenecks on a MariaDB and a PostgreSQL of its own, alone and two "
        "at once, proves that each took hold, runs Tidemark against it, and counts how often "
        "Tidemark's first finding names it; and how often runs with nothing made name a bottleneck. "
        "As root it limits CPU and disk by control groups, else by stopping processes and by a "
        "preloaded library (built with cc).",
    )
    p.add_argument("--only", "--cases", type=names_of(tuple(BY_NAME)), metavar="LIST",
                   help=f"causes, of {', '.join(BY_NAME)} (all); pairs and healthy runs then only "
                   "if asked for")
    p.add_argument("--engines", type=names_of(ENGINES), default=list(ENGINES), metavar="LIST",
                   help=f"of {','.join(ENGINES)} (both)")
    p.add_argument("--repeats", type=positive, help="runs of each cause on each engine (5): middle, "
                   "weak, strong, and again")
    p.add_argument("--pairs", type=whole, metavar="N", help="runs of each pair on each engine (1)")
    p.add_argument("--healthy", type=whole, metavar="N",
                   help="runs with nothing made, on all engines together (40)")
    p.add_argument("--time", type=positive, help="seconds of a run (7)")
    p.add_argument("--diagnose", action="store_true",
                   help="let tidemark diagnose find the class of each cause by experiments, with "
                   "nothing observed, instead of showing a run's diagnosis; no pairs, no healthy "
                   "runs")
    p.add_argument("--budget", type=positive, metavar="SECONDS",
                   help="what --diagnose may take for each cause (60)")
    p.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                   help="keep each run there: outcomes.jsonl (a line of JSON each), records, and "
                   "the store runs.db; what is there already is added to")
    p.add_argument("--again", type=pathlib.Path, metavar="DIR",
                   help="make nothing: ask --tidemark again for the diagnosis of the runs kept there")
    add_program(p, "--tidemark", "the program to run, instead of building this workspace's")
    add_program(p, "--distance", "likewise the proxy (tidemark-distance)")
    add_output_options(p)
    return p


class Plan:
    """What is run, and how often."""

    def __init__(self, args):
        small = args.smoke
        few = small or args.only is not None or args.diagnose
        names = args.only or (SMOKE if small else list(BY_NAME))
        self.causes = [cause for cause in CAUSES if cause.name in names
                       and (cause.classes or not args.diagnose)]
        self.engines = args.engines
        self.seconds = args.time or (1 if small else 7)
        self.baseline_s = 1 if small else 4
        self.warmup_s = 0 if small else 1
        self.repeats = args.repeats or (1 if small or args.diagnose else 5)
        self.pair_repeats = args.pairs if args.pairs is not None else (0 if few else 1)
        wanted = args.healthy if args.healthy is not None else (0 if few else 40)
        each = -(-wanted // len(self.engines))
        self.healthy = list(itertools.islice(itertools.cycle(HEALTHY), each))
        self.diagnose, self.budget_s = args.diagnose, args.budget or 60
        self.pairs = PAIRS if self.pair_repeats else []
        self.is_small = small

    def made(self, causes):
        """Each cause as often as asked, in its doses in turn."""
        in_turn = list(itertools.islice(itertools.cycle(IN_TURN), self.repeats))
        return [cause.at(dose) for cause in causes for dose in in_turn]

    def least(self, cause):
        """The least seconds of its run."""
        return 0 if self.is_small else cause.least_s


def main():
    """Runs the command; its exit code."""

    def measure(args):
        with contextlib.ExitStack() as stack:
            return measure_all(args, Plan(args), stack)

    return run(parser(), measure, (report.BEGIN, report.END))


def programs_of(args):
    """Tidemark and the proxy."""
    helpers = {"tidemark-distance": args.distance}
    return machine.programs(args.smoke, {"tidemark": args.tidemark}, helpers)


def kept_in(args, stack):
    """The folder where runs are kept."""
    folder = args.keep or pathlib.Path(stack.enter_context(
        tempfile.TemporaryDirectory(prefix="tidemark-bottlenecks-runs.")))
    folder.mkdir(parents=True, exist_ok=True)
    return folder.resolve()


def measure_all(args, plan, stack):
    """All that is to be made on all engines; the tables as text."""
    say = progress_of(args)
    facts = Facts(args)
    if args.again:
        return again(args, facts)
    tidemark, distance = programs_of(args)
    kept = Kept(kept_in(args, stack))
    # Accounts of the servers go through it.
    base = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(
        prefix="tidemark-bottlenecks.")))
    os.chmod(base, 0o711)
    slow_disk = SlowDisk(base)
    outcomes = []
    for engine in plan.engines:
        with Server(engine, base / engine, slow_disk, tidemark, say) as server:
            client = Client(tidemark, kept.folder, plan)
            experiment = Experiment(server, client, slow_disk, distance, kept, plan, say)
            for outcome in on_engine(experiment, plan, engine):
                outcomes.append(outcome)
                say(report.line(outcome))
    if args.smoke:
        failed = [report.line(o) for o in outcomes if not o["holds"]]
        if failed:
            raise BenchError("a cause did not take hold: " + "; ".join(failed))
    how = [f"Runs of {plan.seconds} s after {plan.warmup_s} s, of a full disk and of stops {SLOW_RUN_S} s; each "
           f"cause {plan.repeats} times on each engine, middle, weak and strong in turn, compared "
           "with the same load without it."]
    if plan.diagnose:
        how.append(f"Experiments of {plan.budget_s} s for each run, with nothing observed.")
    return f"{facts.markdown(tidemark, [], how)}\n\n{report.all_of(outcomes)}"


def on_engine(experiment, plan, engine):
    """All runs on one engine, one by one."""
    causes = in_turn(plan.made(cause for cause in plan.causes if engine in cause.engines))
    pairs = [p for p in plan.pairs if all(engine in cause.engines for cause in p.causes)]
    loads = [load for one in (*causes, *pairs) for load in (one.load, one.healthy)]
    experiment.prepare(loads + [healthy.load for healthy in plan.healthy])
    for cause in causes:
        experiment.baseline(cause.healthy, cause.disk, cause.each_way_ms)
    for pair in pairs:
        experiment.baseline(pair.healthy)
    for cause in causes:
        yield experiment.made("single", cause.name, [cause], cause.load, cause.healthy,
                              cause.slower)
    for pair in pairs:
        for _ in range(plan.pair_repeats):
            yield experiment.made("pair", pair.name, pair.causes, pair.load, pair.healthy,
                                  pair.slower)
    # First those on one server, then those on the other.
    for healthy in sorted(plan.healthy, key=lambda h: h.scheduled):
        yield from experiment.healthy(healthy)


def again(args, facts):
    """The diagnosis of runs that were kept, by another program."""
    if args.tidemark is None:
        raise BenchError("--again needs the program to ask: --tidemark=PATH")
    kept = Kept(args.again.resolve())
    outcomes = kept.read()
    if not outcomes:
        raise BenchError(f"--again: {args.again} has no outcomes.jsonl of an earlier --keep")
    client = Client(args.tidemark.resolve(), kept.folder, None)
    for outcome in outcomes:
        if outcome.get("run") and not figures.by_experiments(outcome):
            outcome["diagnosis"] = client.diagnosis(outcome["run"])
    how = [f"{len(outcomes)} runs kept earlier, judged again."]
    return f"{facts.markdown(args.tidemark, [], how)}\n\n{report.all_of(outcomes)}"
