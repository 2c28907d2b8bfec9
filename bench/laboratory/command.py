"""The command line, and the order of the work."""

import argparse
import datetime
import os
import sys
import tempfile

from vs_sysbench import machine
from vs_sysbench.errors import BenchError
from vs_sysbench.script import add_output_options, add_program, names_of, positive, run

from . import report
from .figures import HELD_PART, NEAR_NS, NEAR_PART, Stall, differences
from .histogram import Histogram
from .process import Laboratory, tidemark, timers

PARTS = ("accuracy", "open-loop", "stall")
DELAYS = (
    "constant:5ms",
    "uniform:1ms..9ms",
    "exp:5ms",
    "lognormal:median=2ms,sigma=1",
    "pareto:min=1ms,shape=1.5",
    "bimodal:1ms@0.99,50ms@0.01",
)
PROTOCOLS = ("mysql", "postgres")
# Of the rate without a schedule, what may arrive around a stall: with more, how fast a stall is got
# over depends on that rate more than on the stall.
MOST_UTILISED = 0.5


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/accuracy",
        description="Runs Tidemark against a laboratory server whose delays are known, and prints "
        "how far the percentiles that it reports are from the truth, how late it sends what a "
        "schedule asks for, and whether a stall of the server shows whole in response time. It "
        "means something on a machine that does nothing else.",
    )
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    p.add_argument("--sessions", type=positive, help="sessions in closed loop (16)")
    p.add_argument("--parts", type=names_of(PARTS), default=list(PARTS), metavar="LIST",
                   help=f"of {','.join(PARTS)} (all)")
    p.add_argument("--with", dest="options", action="append", default=[], metavar="OPTION",
                   help="an option more for tidemark, as --with=--scheduling=normal; repeatable")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--lab", "likewise the laboratory (tidemark-lab)")
    add_program(p, "--timers", "likewise what looks how late this machine's timers are (timers)")
    add_output_options(p)
    return p


class Plan:
    """What is run and how long."""

    def __init__(self, args):
        small = args.smoke
        self.seconds = args.time or (1 if small else 10)
        self.options = args.options
        self.sessions = args.sessions or (4 if small else 16)
        self.delays = DELAYS[-1:] if small else DELAYS
        # Rates on a schedule with the sessions for them: whether it is enough to be in time on
        # the whole, or whether the rate itself is the question.
        self.rates = [(500, 8, False)] if small else [(10_000, 64, False), (40_000, 128, True)]
        self.stall_rate = 500 if small else 5_000
        self.stall_s = 0.2 if small else 1.0


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers, PARTS)


def measure_all(args, plan):
    """All parts; the tables as one text."""
    progress = sys.stderr if args.markdown else sys.stdout

    def say(text):
        print(text, file=progress, flush=True)

    load_before = os.getloadavg()[0]
    # All on the same processors: what one takes is part of how late the others are.
    programs = machine.programs(args.smoke, {
        "tidemark": args.tidemark, "tidemark-lab": args.lab, "timers": args.timers})
    version = machine.version([programs[0]])
    if not args.tidemark and machine.revision():
        version += f" ({machine.revision()})"
    facts = ["A smoke test: these figures mean nothing."] if args.smoke else []
    facts += [
        f"Measured on {datetime.date.today().isoformat()} on {machine.describe()}; "
        f"load average before: {load_before:.2f}.",
        f"{version}; runs of {plan.seconds} s; the laboratory on the same machine, one thread.",
    ]
    if plan.options:
        facts.append(f"With {' '.join(plan.options)}.")
    with tempfile.TemporaryDirectory(prefix="tidemark-bench.") as folder:
        bench = Bench(programs, folder, plan, say)
        sections = [getattr(bench, part.replace("-", "_"))() for part in args.parts]
    return "\n".join(f"- {fact}" for fact in facts) + "\n\n" + "\n\n".join(sections)


class Bench:
    """The parts."""

    def __init__(self, programs, folder, plan, say):
        self.programs = programs
        self.folder, self.plan, self.say = folder, plan, say

    def _run(self, protocol, lab_options, sessions, rate=None):
        """One run against a laboratory of its own; the run and the truth."""
        program, lab_program, _ = self.programs
        with Laboratory(lab_program, *lab_options) as lab:
            options = [f"--threads={sessions}", f"--time={self.plan.seconds}"]
            options += [f"--rate={rate}"] if rate else []
            options += self.plan.options
            run = tidemark(program, self.folder, lab.urls[protocol], options, self.plan.seconds)
            truth = lab.truth()
        executed = truth["delays"]["count"]
        if run.count != executed:
            raise BenchError(f"{run.count} transactions are recorded, {executed} were answered")
        return run, Histogram(truth["delays"]["histogram"])

    def accuracy(self):
        """Percentiles beside the truth."""
        results = []
        for delay in self.plan.delays:
            for protocol in PROTOCOLS:
                run, truth = self._run(protocol, [f"--delay={delay}"], self.plan.sessions)
                found = differences(truth, run.server)
                off = ", ".join(f"p{d.percent:g} {report.signed(d.off_ns)}" for d in found)
                self.say(f"{delay}, {protocol}: {off}")
                results.append((delay, protocol, run, found))
        return (
            f"### Closed loop, {self.plan.sessions} sessions: time at the server and on the way beside the truth\n\n"
            f"True values, and how much more was measured; to be reached: at most "
            f"{NEAR_PART:.0%} or {report.time(NEAR_NS)}, whichever is larger.\n\n"
            "The client's share is what its own host added to the mean until the session could go on.\n\n"
            f"{report.accuracy_table(results)}"
        )

    def open_loop(self):
        """How late arrivals are sent, beside threads that only sleep."""
        results = []
        for rate, sessions, hold in self.plan.rates:
            bare = timers(self.programs[2], rate, self.plan.seconds)
            self.say(f"{rate}/s, threads that only sleep: p99 {report.time(bare['p99_ns'])} late")
            results.append((rate, None, bare, hold))
            for protocol in PROTOCOLS:
                run, _ = self._run(protocol, ["--delay=constant:1ms"], sessions, rate)
                self.say(f"{rate}/s, {protocol}: {run.per_second:,.0f}/s")
                results.append((rate, protocol, run, hold))
        return (
            "### Open loop: from scheduled to actual send\n\n"
            f"Answers after 1 ms. A rate is held when at least {HELD_PART:.0%} of it was done, "
            "nothing was dropped, and it was sent in time. Beside it, how late threads wake on this "
            "machine that sleep until each of so many moments and do nothing else.\n\n"
            f"{report.lateness_table(results)}"
        )

    def stall(self):
        """A stall in response time."""
        results = []
        plan = self.plan
        delay = "--delay=constant:200us"
        options = [delay, f"--stall-at={plan.seconds * 0.4}s:{plan.stall_s}s"]
        for protocol in PROTOCOLS:
            most, _ = self._run(protocol, [delay], 64)
            self.say(f"no schedule, {protocol}: {most.per_second:,.0f}/s")
            utilisation = plan.stall_rate / most.per_second
            if utilisation > MOST_UTILISED:
                raise BenchError(
                    f"{plan.stall_rate:,}/s are too many for a stall: 64 sessions do "
                    f"{most.per_second:,.0f}/s on this machine"
                )
            stall = Stall(plan.stall_s, plan.seconds, utilisation)
            run, _ = self._run(protocol, options, 64, plan.stall_rate)
            self.say(f"stall, {protocol}: max {report.time(run.response.max_ns)}")
            results.append((protocol, stall, run))
        return (
            f"### A stall of {report.time(plan.stall_s * 1e9)} in a run of {plan.seconds} s at "
            f"{plan.stall_rate:,}/s on 64 sessions\n\n"
            "Arrivals in the stall wait for what is left of it, and for those before them to be "
            "answered, at the rate at which 64 sessions are without a schedule; that gives the "
            "percentiles of response time. Service time shows it once a session, which is how load generators "
            f"that wait politely hide it.\n\n{report.stall_table(results)}"
        )
