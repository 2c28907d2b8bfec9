"""What the scripts' command lines share: their options, how they end, and where tables go."""

import argparse
import datetime
import os
import pathlib
import signal
import sys

from . import launch, machine, report
from .errors import BenchError

README = machine.ROOT / "bench/README.md"


def positive(text):
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: allowed is a whole number from 1")
    return int(text)


def positive_list(text):
    """Whole numbers separated by commas."""
    return [positive(part) for part in text.split(",")]


def names_of(known):
    """Reads names out of `known`, separated by commas."""

    def read(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name}: allowed are {', '.join(known)}")
        return names

    return read


def add_program(parser, option, help_text):
    """The option that names a program to measure."""
    parser.add_argument(option, metavar="PATH", type=pathlib.Path, help=help_text)


def add_servers(parser, needs=""):
    """The options that name servers of the user's; `needs` is what MySQL's must have."""
    parser.add_argument("--mysql", metavar="URL",
                        help=f"a MySQL or MariaDB server to measure against{needs}; @FILE reads the "
                        "URL from a file, so that the password stands in no process list")
    parser.add_argument("--postgres", metavar="URL", help="a PostgreSQL server, likewise")


class Facts:
    """What stands above a table: when, on what and with what it was measured. Made before the
    measurement, for the load average."""

    def __init__(self, args):
        self.args = args
        self.load_before = os.getloadavg()[0]

    def markdown(self, tidemark, settings, how):
        """A list: `tidemark` is the program, `settings` the servers' (a line each), `how` what else
        is to be told."""
        args = self.args
        version = machine.version([tidemark])
        if args.tidemark is None and machine.revision():
            version += f" ({machine.revision()})"
        servers = ""
        if "mysql" in args:
            servers = f"; {'named' if args.mysql or args.postgres else 'own'} servers over TCP"
        facts = ["A smoke test: these figures mean nothing."] if args.smoke else []
        facts += [
            f"Measured on {datetime.date.today().isoformat()} on {machine.describe()}; "
            f"load average before: {self.load_before:.2f}.",
            f"{version}{servers}.",
            *settings,
            *how,
        ]
        return "\n".join(f"- {fact}" for fact in facts)


def memory_floor():
    """The fact that tells the least memory a process is shown with."""
    floor = launch.floor_bytes() / (1 << 20)
    return f"No process is shown with less memory than {floor:.1f} MiB."


def progress_of(args):
    """Prints a line of progress, where it disturbs no table."""
    progress = sys.stderr if args.markdown else sys.stdout

    def say(text):
        print(text, file=progress, flush=True)

    return say


def add_output_options(parser):
    """The options that every script has."""
    parser.add_argument("--smoke", action="store_true",
                        help="everything once with tiny sizes: fails when something does not run; "
                        "its figures mean nothing")
    parser.add_argument("--markdown", action="store_true",
                        help="only the tables on standard output, progress on standard error")
    parser.add_argument("--write-readme", action="store_true",
                        help="puts the tables into bench/README.md, replacing the former ones")


def run(parser, measure, markers, all_parts=None):
    """Runs a script: `measure(args)` gives its tables. Its exit code. Where it has parts, the
    README takes only all of them."""
    args = parser.parse_args()
    if args.smoke and args.write_readme:
        parser.error("--smoke's figures mean nothing: they are not for the README")
    if all_parts and args.write_readme and set(args.parts) != set(all_parts):
        parser.error("--write-readme needs all --parts: the former tables would be lost")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        block = measure(args)
    except BenchError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{parser.prog}: interrupted", file=sys.stderr)
        return 130
    print(block if args.markdown else "\n" + block)
    if args.write_readme:
        README.write_text(report.replace_block(README.read_text(), block, *markers))
        print(f"written to {README}", file=sys.stderr)
    if args.smoke:
        print("Smoke test: everything ran; its figures mean nothing.")
    return 0
