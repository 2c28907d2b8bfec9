"""The command line, and the order of the work."""

import argparse
import dataclasses
import os
import pathlib
import random
import re
import subprocess
import tempfile
import time

from vs_sysbench import machine
from vs_sysbench.errors import BenchError
from vs_sysbench.script import (
    Facts,
    add_output_options,
    add_program,
    add_servers,
    positive,
    progress_of,
    run,
)

from . import real, report, taken
from .changes import changed
from .outputs import SHAPES, interval

NO_RUN = "no line in it is an output"


@dataclasses.dataclass
class Found:
    """What was found: MB/s, MiB and bytes of the large file; by tool how many changes were caught, and
    of how many; figures taken over."""

    clean: int = 0
    alarms: int = 0
    speed: tuple = ()
    caught: dict = dataclasses.field(default_factory=dict)
    # By what they are of: how many stated figures were taken over, and of how many.
    taken: dict = dataclasses.field(default_factory=dict)


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/import",
        description="Measures importing and auditing: speed and peak memory on a large file of interval "
        "lines, the share of changes that the audit finds in outputs of several tools (a figure that "
        "others determine, a lost line, one of several clients), false alarms on unchanged outputs, and "
        "how many of the figures of real outputs are taken over. Without --mysql or --postgres it starts "
        "servers of its own (scripts/servers) for those and stops them at the end.",
    )
    p.add_argument("--outputs", type=pathlib.Path, help="folder with clean outputs, instead of made ones")
    p.add_argument("--changes", type=positive, help="changes (1,000)")
    p.add_argument("--seed", type=int, default=1, help="of the changes (1)")
    p.add_argument("--no-speed", action="store_true", help="without the large file")
    p.add_argument("--no-real", action="store_true", help="without outputs of the real sysbench and pgbench")
    p.add_argument("--documents", metavar="FOLDER", type=pathlib.Path, action="append", default=[],
                   help="a folder of reports or kept outputs whose figures are counted as well; again for "
                   "another. NAME.figures.json beside NAME has its expected figures, as [line, name, value]")
    p.add_argument("--keep", metavar="FOLDER", type=pathlib.Path,
                   help="where the real outputs stay with their expected figures")
    add_servers(p)
    p.add_argument("--verbose", action="store_true", help="name the changes that were not caught")
    add_program(p, "--tidemark", "the program to measure, instead of building this workspace's")
    add_output_options(p)
    return p


def main():
    """Runs the command; its exit code."""
    return run(parser(), measure, (report.BEGIN, report.END))


def measure(args):
    """The figures as text."""
    facts = Facts(args)
    [tidemark] = machine.programs(args.smoke, {"tidemark": args.tidemark})
    found = figures(tidemark, args, progress_of(args))
    how = [f"The changes are made to {found.clean} outputs, chosen by the seed {args.seed}."]
    return f"{facts.markdown(tidemark, [], how)}\n\n{report.figures_table(found)}"


def figures(tidemark, args, say):
    """What is measured and counted."""
    found = Found()
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-import.") as folder:
        folder = pathlib.Path(folder)
        if not args.no_speed:
            size = 2_000_000 if args.smoke else 1_000_000_000
            found.speed = (*speed(tidemark, folder, size), size)
            say("interval lines: {:.0f} MB/s; peak memory {:.1f} MiB".format(*found.speed))
        clean = clean_outputs(args.outputs, 1 if args.smoke else 10)
        found.clean = len(clean)
        path = folder / "one.md"
        for name, text in clean:
            path.write_text(text, encoding="utf-8")
            for line in audit(tidemark, path):
                found.alarms += 1
                say(f"{name}: false alarm: {line}")
        for _ in range(args.changes or (20 if args.smoke else 1000)):
            name, text = chance.choice(clean)
            place, text = changed(text, chance)
            path.write_text(text, encoding="utf-8")
            is_found = bool(audit(tidemark, path))
            hits, of = found.caught.get(name, (0, 0))
            found.caught[name] = (hits + is_found, of + 1)
            if not is_found and args.verbose:
                say(f"{name}: not caught: {place}")
        found.taken = figures_taken(tidemark, args, folder / "real", say)
    return found


def figures_taken(tidemark, args, folder, say):
    """How many figures of real outputs, and of each folder's documents, were taken over, and of how many."""
    folder = args.keep or folder
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    if not args.no_real:
        found["real outputs"] = taken.count(tidemark, real.outputs(folder, args, say), say)
    for documents in args.documents:
        found[documents.name] = taken.count(tidemark, taken.documents([documents]), say)
    for name, (hits, of) in found.items():
        say(f"{name}: figures taken over: {hits:,} of {of:,}")
    return found


def clean_outputs(folder, each):
    """Outputs with the name of their shape: those of a folder, or so many made ones of each."""
    if folder:
        files = sorted(path for path in folder.iterdir() if path.is_file())
        return [(folder.name, path.read_text(encoding="utf-8")) for path in files]
    return [(name, make(seed)) for name, make in SHAPES.items() for seed in range(each)]


def audit(program, path):
    """Findings that are worse than a note."""
    done = subprocess.run([program, "audit", str(path)], capture_output=True, text=True, check=False)
    if done.returncode == 2 and NO_RUN in done.stderr:
        return ["refused"]
    if done.returncode not in (0, 3):
        raise BenchError(f"{path}: exit code {done.returncode}: {done.stderr}")
    alarms = re.findall(r"^ +(?:INVALID|SUSPECT).*$", done.stdout, flags=re.M)
    return [line.strip() for line in alarms]


def speed(program, folder, size):
    """MB/s and MiB of importing a file of about so many bytes."""
    path = folder / "large.txt"
    block = "".join(interval(at + 1, 1000 + at % 7) for at in range(10_000))
    at = 0
    with path.open("w", encoding="ascii") as file:
        while file.tell() < size:
            file.write(re.sub(r"^\[ (\d+)s", lambda m: f"[ {int(m.group(1)) + at}s", block, flags=re.M))
            at += 10_000
    began = time.monotonic()
    child = subprocess.Popen([program, "import", "--dry-run", str(path)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - began
    if status != 0:
        raise BenchError(f"import ended with status {status}")
    mb = path.stat().st_size / 1e6
    path.unlink()
    return mb / took, usage.ru_maxrss / 1024
