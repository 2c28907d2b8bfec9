"""The command line, and the order of the work."""

import argparse
import collections
import dataclasses
import itertools
import os
import pathlib
import re
import subprocess
import tempfile

from vs_sysbench import machine
from vs_sysbench.errors import BenchError
from vs_sysbench.others import OtherPrograms
from vs_sysbench.report import table
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    positive,
    progress_of,
    run,
)

BEGIN = "<!-- clean-runs: written by bench/clean-runs --write-readme -->"
END = "<!-- end of clean-runs -->"
# What a run may say of itself without a false alarm: the client shares its host with the server.
HONEST = "client-bound"
ALARMS = ("suspect", "invalid")
# More than this of a processor with other programs is no idle machine: the run is made again,
# whatever its findings are.
MOST_OTHERS = 0.1
TRIES = 4
LIMIT_S = 600
# "  NOTE [too-short] The measurement lasted 4.37 s: …"
FINDING = re.compile(r"^ *(NOTE|SUSPECT|INVALID) \[([a-z-]+)\] (.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Workload:
    """A command that loads and one that runs: words between program and target, and after."""

    name: str
    prepare: tuple
    run: tuple


def workloads(smoke, embedded):
    """The runs of one engine, in turn. An embedded engine computes in the client's own threads and
    has one writer: more sessions than that wait for each other, which is nothing clean."""
    rows = 500 if smoke else 20_000
    tables = ["--tables=2", f"--table-size={rows}"]

    def sessions(most, writes):
        return min(most, 1 if writes else 2) if embedded else most

    def oltp(script, threads, writes):
        threads = sessions(threads, writes)
        words = ("sysbench", script, *tables)
        return Workload(f"{script}, {threads} threads", (*words, "--threads=2", "prepare"),
                        (*words, f"--threads={threads}", "run"))

    def ycsb(letter):
        records = ["-p", f"recordcount={rows}"]
        threads = sessions(8, letter != "c")
        return Workload(
            f"YCSB {letter}, {threads} threads",
            ("ycsb", "load", "DB", "-P", f"workload{letter}", *records, "--threads=2",
             "--replace"),
            ("ycsb", "run", "DB", "-P", f"workload{letter}", *records, "-p", "operationcount=0",
             f"--threads={threads}"),
        )

    tpcc = ("tpcc", "--warehouses=1")
    return [
        oltp("oltp_point_select", 4, False),
        oltp("oltp_point_select", 64, False),
        oltp("oltp_read_only", 8, False),
        oltp("oltp_read_write", 8, True),
        oltp("oltp_update_index", 16, True),
        oltp("oltp_write_only", 8, True),
        ycsb("a"),
        ycsb("c"),
        Workload(f"TPC-C, {sessions(4, True)} terminals", (*tpcc, "prepare", "-T", "2"),
                 (*tpcc, "run", "-T", str(sessions(4, True)))),
    ]


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/clean-runs",
        description="Runs OLTP, YCSB and TPC-C workloads that nothing is wrong with, each on "
        "freshly loaded tables, on a MariaDB, a PostgreSQL and a SQLite file of its own, and counts "
        "the findings that are SUSPECT or worse. Each but client-bound is a false alarm. A run beside "
        "which other programs took more than a tenth of a processor is made again.",
    )
    p.add_argument("--runs", type=positive, help="how many runs in all (50)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    p.add_argument("--keep", type=pathlib.Path, metavar="DIR",
                   help="keep the record of each run with a false alarm in this folder")
    add_program(p, "--tidemark", "the program to run, instead of building this workspace's")
    add_output_options(p)
    return p


def main():
    """Runs the command; its exit code."""
    return run(parser(), measure_all, (BEGIN, END))


@dataclasses.dataclass
class Outcome:
    """What a run said of itself."""

    engine: str
    name: str
    findings: list
    # CPUs' worth of time that other programs took meanwhile.
    others: float = 0.0


class Session:
    """Where runs happen: a program, a folder, and targets by engine."""

    def __init__(self, program, folder, urls, seconds, keep=None, servers=()):
        self.keep, self.servers = keep, servers
        self.program, self.folder, self.seconds = program, pathlib.Path(folder), seconds
        self.urls = urls
        self.env = {**os.environ, "TIDEMARK_STORE": str(self.folder / "runs.db")}

    def _do(self, engine, words):
        url = self.urls[engine]
        words = [("pg" if engine == "pgsql" else engine) if w == "DB" else w for w in words]
        at = 2 if words[0] == "ycsb" else 1
        command = [str(self.program), *words[:at], f"--target={url}", *words[at:]]
        if words[0] == "sysbench":
            command = [str(self.program), *words[:2], f"--target={url}", *words[2:]]
        done = subprocess.run(command, env=self.env, cwd=self.folder, timeout=LIMIT_S,
                              capture_output=True, text=True)
        if done.returncode not in (0, 3):
            shown = " ".join(command).replace(url, self.shown(engine))
            raise BenchError(f"{shown} ended with {done.returncode}\n{done.stdout}{done.stderr}")

    @staticmethod
    def shown(engine):
        """A target's name without its password."""
        return f"the {engine} server"

    def run(self, engine, workload):
        """Loads, runs, and drops again; what the run's report says."""
        self._do(engine, (*workload.prepare,))
        try:
            seconds = f"--time={self.seconds}" if workload.run[0] != "tpcc" else \
                f"--time={self.seconds}s"
            with OtherPrograms(self.servers) as others:
                self._do(engine, (*workload.run, seconds))
            shown = subprocess.run(
                [str(self.program), "show", "last"], env=self.env, cwd=self.folder,
                timeout=LIMIT_S, capture_output=True, text=True, check=True)
        finally:
            self._cleanup(engine, workload)
        outcome = Outcome(engine, workload.name, findings_of(shown.stdout), others.cores)
        if self.keep and alarms([outcome]):
            self.keep.mkdir(parents=True, exist_ok=True)
            subprocess.run(
                [str(self.program), "export", "last", "-o", str(self.keep.resolve()) + "/"],
                env=self.env, cwd=self.folder, timeout=LIMIT_S, capture_output=True, text=True,
                check=True)
        return outcome

    def _cleanup(self, engine, workload):
        words = [w for w in workload.prepare if w not in ("prepare", "-T", "2")]
        # YCSB has no cleanup: its next load replaces the table, which this one made.
        if words[0] != "ycsb":
            self._do(engine, (*words, "cleanup"))


def findings_of(text):
    """(severity, rule, sentence) of each finding that `tidemark show` prints."""
    return [(severity.lower(), rule, says) for severity, rule, says in FINDING.findall(text)]


def measure_all(args):
    """All runs; the table as text."""
    facts = Facts(args)
    say = progress_of(args)
    program = args.tidemark.resolve() if args.tidemark else \
        machine.build_packages(args.smoke, ["tidemark"]) / "tidemark"
    seconds = args.time or (1 if args.smoke else 10)
    wanted = args.runs or (9 if args.smoke else 50)
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="tidemark-clean.") as folder, \
            machine.OwnServers(args.smoke) as own:
        urls = {**own.urls, "sqlite": f"sqlite:{folder}/clean.db"}
        session = Session(program, folder, urls, seconds, args.keep, own.pids.values())
        again = 0
        of_engine = {e: workloads(args.smoke, e == "sqlite") for e in urls}
        every = [turn for works in zip(*of_engine.values()) for turn in zip(of_engine, works)]
        for number, (engine, workload) in enumerate(itertools.islice(itertools.cycle(every), wanted)):
            outcome = session.run(engine, workload)
            for _ in range(0 if args.smoke else TRIES - 1):
                if outcome.others <= MOST_OTHERS:
                    break
                say(f"  again: other programs took {outcome.others:.2f} processors")
                again += 1
                outcome = session.run(engine, workload)
            outcomes.append(outcome)
            told = ", ".join(f"{s} {rule}" for s, rule, _ in outcome.findings) or "nothing"
            say(f"{number + 1}/{wanted} {engine}, {workload.name}: {told}")
    return "\n\n".join([facts.markdown(program, [], [f"{wanted} runs of {seconds} s."]),
                        counts(outcomes), beside(outcomes, again)])


def alarms(outcomes):
    """(outcome, rule, sentence) of each false alarm."""
    return [(o, rule, says) for o in outcomes for severity, rule, says in o.findings
            if severity in ALARMS and rule != HONEST]


def beside(outcomes, again):
    """What other programs took."""
    most = max(o.others for o in outcomes)
    return (f"Runs repeated because other programs took more than {MOST_OTHERS:g} processors: "
            f"{again}. Most beside a run that counts: {most:.2f}.")


def counts(outcomes):
    """How often each rule spoke, and the false alarms one by one."""
    by_rule = collections.Counter(
        (severity, rule) for o in outcomes for severity, rule, _ in o.findings)
    rows = [[rule, severity.upper(), str(n)] for (severity, rule), n in sorted(by_rule.items())]
    false = alarms(outcomes)
    lines = [table(["rule", "severity", f"of {len(outcomes)} runs"], rows or [["–", "–", "0"]]),
             f"SUSPECT or worse, {HONEST} aside: {len(false)} (reach: 0)."]
    lines += [f"- {o.engine}, {o.name}: {rule}: {says}" for o, rule, says in false]
    return "\n\n".join([lines[0], "\n".join(lines[1:])])
