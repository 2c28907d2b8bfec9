"""What is measured on and with: machine, builds, own servers."""

import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from .clients import Programs
from .errors import BenchError
from .target import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVERS = str(ROOT / "scripts/servers")
# Programs of this workspace, and their packages.
PACKAGES = {
    "tidemark": "tidemark",
    "bare-loop": "tidemark-bare-loop",
    "made-up-study": "tidemark-micro",
    "simulated-clients": "tidemark-simulated-clients",
    "tidemark-distance": "tidemark-lab",
    "tidemark-lab": "tidemark-lab",
    "timers": "tidemark-micro",
}


def describe():
    """CPU model, cores, memory and kernel in one line."""
    cpus = re.search(r"^model name\s*: (.*)$", _read("/proc/cpuinfo"), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s+(\d+) kB$", _read("/proc/meminfo"), re.MULTILINE)
    return ", ".join(
        [
            cpus[1] if cpus else platform.machine(),
            f"{len(os.sched_getaffinity(0))} cores",
            f"{int(memory[1]) / (1 << 20):.0f} GiB" if memory else "memory unknown",
            f"{platform.system()} {platform.release()}",
        ]
    )


def _read(path):
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def version(command):
    """The first line that a program says about its version."""
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=30)
    lines = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode != 0 or not lines:
        raise BenchError(f"{command[0]} --version ended with {done.returncode}")
    return lines[0]


def revision():
    """The commit measured, with a mark when files differ from it; empty outside a repository."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def clients(smoke, tidemark, bare_loop, before=None):
    """Tidemark and the bare loop, built where none is named; `before` is another build."""
    return Programs(*programs(smoke, {"tidemark": tidemark, "bare-loop": bare_loop}),
                    before and before.resolve())


def programs(smoke, measured, helpers=None):
    """Where programs are, in this order: those named (name -> path or None), and the others built.
    Helpers are no figure themselves: what is quick to build does."""
    helpers = helpers or {}
    if smoke:
        measured, helpers = measured | helpers, {}
    found = []
    for profile, given in (("dist", measured), ("release", helpers)):
        missing = [name for name, path in given.items() if path is None]
        folder = build_programs(smoke, missing, profile) if missing else None
        found += [path.resolve() if path else folder / name for name, path in given.items()]
    return found


def build_programs(smoke, names, profile):
    """Builds programs of this workspace, and nothing beside them; their folder."""
    packages = list(dict.fromkeys(PACKAGES[name] for name in names))
    return build_packages(smoke, packages, names, profile)


def build_command(smoke, packages, names=(), profile="dist"):
    """What builds packages of this workspace, all their programs or those of these names: with the
    dist profile or another, except for a smoke test, which takes what the tests have built already.
    That is the whole workspace with what its tests depend on (examples make Cargo count that in):
    fewer packages turn on fewer features of the crates they share, and most would be built once
    more."""
    command = ["cargo", "build", "--locked"]
    if smoke:
        return [*command, "--workspace", "--bins", "--examples"]
    command += ["--profile", profile]
    for package in packages:
        command += ["-p", package]
    for name in names:
        command += ["--bin", name]
    return command


def build_packages(smoke, packages, names=(), profile="dist"):
    """Builds packages of this workspace, as `build_command` says; the folder with their programs."""
    command = build_command(smoke, packages, names, profile)
    if subprocess.run(command, cwd=ROOT).returncode != 0:
        raise BenchError("the build failed: " + " ".join(command))
    asked = subprocess.run(
        ["cargo", "metadata", "--locked", "--no-deps", "--format-version=1"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    folder = pathlib.Path(json.loads(asked.stdout)["target_directory"])
    return folder / ("debug" if smoke else profile)


def become(package, name):
    """Builds a package, and becomes its program of this name, with the options of this one."""
    try:
        program = build_packages("--smoke" in sys.argv, [package], [name]) / name
    except BenchError as error:
        sys.exit(f"bench/{name}: {error}")
    os.execv(program, [f"bench/{name}", *sys.argv[1:]])


class OwnServers:
    """A MariaDB and a PostgreSQL of this benchmark's own, by scripts/servers; `settings` are its
    options."""

    def __init__(self, quick, settings=()):
        self.folder = tempfile.mkdtemp(prefix="tidemark-bench-servers.")
        self.quick, self.settings = quick, settings
        self.urls, self.pids = {}, {}

    def __enter__(self):
        command = [SERVERS, "start", self.folder, *self.settings]
        if self.quick:
            command.append("--quick")
        try:
            said = self._call(command)
        except BaseException:
            self.__exit__()
            raise
        for driver, variable in (("mysql", "MYSQL"), ("pgsql", "POSTGRES")):
            found = re.search(rf"TIDEMARK_TEST_{variable}_URL='([^']+)'", said)
            if found:
                self.urls[driver] = found[1]
            pid = re.search(rf"TIDEMARK_{variable}_PID='(\d+)'", said)
            if pid:
                self.pids[driver] = int(pid[1])
        return self

    def __exit__(self, *_):
        self._call([SERVERS, "stop", self.folder])

    def _call(self, command):
        # In a session of its own: an interrupt from the terminal reaches this process alone, which
        # passes a start on to the script's own trap and lets a stop go on.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            said, _ = process.communicate()
        except BaseException:
            if command[1] == "start":
                process.terminate()
            process.wait()
            raise
        if process.returncode != 0:
            raise BenchError(f"{' '.join(command)} failed; --mysql and --postgres name other servers")
        return said


def versions(programs, ours):
    """The clients' versions; with the commit when Tidemark is this workspace's."""
    tidemark = version([programs.tidemark])
    if ours and revision():
        tidemark += f" ({revision()})"
    return [tidemark, version([program("sysbench")]), version([program("pgbench")])]
