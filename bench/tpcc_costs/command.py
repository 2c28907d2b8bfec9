"""The command line, and the order of the work."""

import argparse

from session_costs.command import servers
from vs_sysbench import machine
from vs_sysbench.clients import Size
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    add_servers,
    memory_floor,
    names_of,
    positive,
    progress_of,
    run,
)

from . import report
from .bench import measure

PARTS = ("prepare", "check", "mix", "new-order", "terminals", "efficiency")
parts = names_of(PARTS)


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/tpcc",
        description="Prints what TPC-C takes with Tidemark, each figure with what is to be reached: "
        "the time of prepare over the server's own bulk path fed with the same rows, the time of "
        "check, client CPU per statement over a bare socket loop's and per transaction, statements "
        "of a New-Order, resident memory with very many terminals, and efficiency with think "
        "times. Without --mysql or --postgres it starts servers of its own (scripts/servers) and "
        "stops them at the end.",
    )
    add_servers(p, ", with local_infile on")
    p.add_argument("--parts", type=parts, default=list(PARTS), metavar="LIST",
                   help=f"of {','.join(PARTS)} (all)")
    p.add_argument("--load-warehouses", type=positive,
                   help="warehouses of the parts prepare and check (4)")
    p.add_argument("--warehouses", type=positive, help="of the others (10)")
    p.add_argument("--pairs", type=positive, help="pairs of loads, and of runs beside the bare "
                   "loop (3)")
    p.add_argument("--runs", type=positive, help="runs of check and with very many terminals (3)")
    p.add_argument("--time", type=positive, help="seconds of a run of the mix (10)")
    p.add_argument("--terminals", type=positive, help="very many terminals, on 200 sessions "
                   "(10,000)")
    p.add_argument("--efficiency-runs", type=positive, help="runs with think times (3)")
    p.add_argument("--efficiency-time", type=positive, help="seconds of each of them (300)")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_program(p, "--bare-loop", "likewise the bare loop")
    add_output_options(p)
    return p


class Plan:
    """What is run, how often and how large."""

    def __init__(self, args):
        small = args.smoke
        self.load_warehouses = args.load_warehouses or (1 if small else 4)
        self.load_threads = 4
        self.warehouses = args.warehouses or (1 if small else 10)
        self.pairs = args.pairs or (1 if small else 3)
        self.runs = args.runs or (1 if small else 3)
        self.check_threads = [2] if small else [1, 2]
        self.mix_terminals = 8
        self.seconds = args.time or (1 if small else 10)
        self.warm_up = 1 if small else 5
        self.bare_size = Size(4, 500 if small else 25_000)
        self.new_orders = 1 if small else 5
        self.terminals = args.terminals or (100 if small else 10_000)
        self.connections = 8 if small else 200
        # Most terminals come around two or three times.
        self.crowd_seconds = 3 if small else 60
        self.efficiency_runs = args.efficiency_runs or (1 if small else 3)
        # Terminals come around in some 23 s, and in a tenth of that where only something is to run.
        self.efficiency_waits = ["--wait", *(["--wait-scale=0.1"] if small else [])]
        self.efficiency_seconds = args.efficiency_time or (5 if small else 300)
        self.efficiency_warm_up = 1 if small else 30


def main():
    """Runs the command; its exit code."""
    markers = (report.BEGIN, report.END)
    return run(parser(), lambda args: measure_all(args, Plan(args)), markers, PARTS)


def programs_of(args):
    """What is measured, built unless it is given."""
    return machine.clients(args.smoke, args.tidemark, args.bare_loop)


def measure_all(args, plan):
    """All parts; the table as text."""
    say = progress_of(args)
    facts = Facts(args)
    programs = programs_of(args)
    with servers(args, say, []) as urls:
        found = measure(programs, urls, plan, args.parts, say)
    settings = [f"{one.server}: {one.settings}." for one in found]
    how = [
        f"{plan.pairs} pairs of loads and of runs of {plan.seconds} s, in turn; "
        f"{plan.warehouses} warehouses are loaded for all but the loads and the check.",
        memory_floor(),
    ]
    text = facts.markdown(programs.tidemark, settings, how)
    return f"{text}\n\n{report.figures_table(found, plan)}"
