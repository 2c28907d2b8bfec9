"""The command line, and the order of the work."""

import argparse
import resource

from live_costs.command import program_of
from session_costs.command import servers
from vs_sysbench.clients import Size
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    add_servers,
    positive,
    positive_list,
    progress_of,
    run,
)

from . import report
from .bench import measure, settings_of


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/scripts",
        description="Prints what sysbench's own Lua scripts cost when Tidemark runs them as Lua: "
        "client CPU per query of oltp_read_write.lua over sysbench's, in turn, memory of a "
        "script's thread, and a run with very many threads. Without --mysql or --postgres it "
        "starts servers of its own (scripts/servers) and stops them at the end.",
    )
    add_servers(p, ", with max_connections enough")
    p.add_argument("--pairs", type=positive, help="pairs of runs, in turn (5)")
    p.add_argument("--time", type=positive, help="seconds of a run (10)")
    p.add_argument("--sessions", type=positive_list, help="session counts in turn (16,256)")
    p.add_argument("--many", type=positive, help="threads of the run with very many (10,000)")
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
        self.sessions = args.sessions or ([4] if small else [16, 256])
        self.memory_sessions = [4, 24] if small else [200, 1_000]
        self.memory_seconds = 1 if small else 10
        self.many = args.many or (40 if small else 10_000)
        # Of the servers' settings: PostgreSQL's sessions are those of the memory.
        self.bounced = self.memory_sessions[-1]
        self.connect_rate = 200 if small else 2_000
        self.run_size = Size(4, 500 if small else 25_000)
        self.load_threads = 4


def main():
    """Runs the command; its exit code."""

    def measured(args):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        return measure_all(args, Plan(args))

    return run(parser(), measured, (report.BEGIN, report.END))


def measure_all(args, plan):
    """The figures on all servers; the tables as text."""
    say = progress_of(args)
    facts = Facts(args)
    programs = program_of(args)
    with servers(args, say, settings_of(plan)) as urls:
        found = measure(programs, urls, plan, say)
    settings = [f"{one.server}: {one.settings}." for one in found]
    pairs = "pair" if plan.pairs == 1 else "pairs"
    how = [
        f"{plan.pairs} {pairs} of runs of {plan.seconds} s, in turn; oltp_read_write.lua of "
        f"sysbench's package, {plan.run_size.tables} tables of {plan.run_size.rows:,} rows, "
        "uniform ids.",
    ]
    text = facts.markdown(programs.tidemark, settings, how)
    return f"{text}\n\n{report.cpu_table(found)}\n\n{report.memory_table(found)}"
