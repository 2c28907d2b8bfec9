"""What is run, and how its figure is read."""

import dataclasses
import pathlib
import re
import subprocess
import tempfile

from vs_sysbench.errors import BenchError

TIDEMARK, SYSBENCH = "Tidemark", "sysbench"
MODES = ("seqwr", "seqrewr", "seqrd", "rndrd", "rndwr", "rndrw")
# A test may take so much longer than its time: syncs at its end, mutexes.
GRACE_S = 120


@dataclasses.dataclass
class Case:
    """One test with its options."""

    name: str
    words: list
    unit: str
    # A ratio within 1 ± this is met.
    within: float
    # Whether it needs files.
    files: bool = False


def cases(plan):
    """Every test that is compared."""
    found = [Case("cpu", ["cpu", "--cpu-max-prime=10000"], "events/s", 0.03)]
    for block in ("1K", "1M"):
        for operation in ("read", "write"):
            for access in ("seq", "rnd"):
                words = [
                    "memory",
                    f"--memory-block-size={block}",
                    f"--memory-oper={operation}",
                    f"--memory-access-mode={access}",
                    "--memory-total-size=100T",
                ]
                name = f"memory {operation} {access} {block}"
                found.append(Case(name, words, "MiB/s", 0.03))
    for mode in MODES:
        words = [
            "fileio",
            f"--file-test-mode={mode}",
            f"--file-total-size={plan.file_size}",
            f"--file-num={plan.files}",
        ]
        found.append(Case(f"fileio {mode}", words, "MiB/s", 0.10, files=True))
    found.append(Case("threads", ["threads"], "events/s", 0.03))
    found.append(Case("threads, 4 threads", ["threads", "--threads=4"], "events/s", 0.03))
    words = ["mutex", f"--mutex-locks={plan.locks}"]
    found.append(Case("mutex", words, "events/s", 0.03))
    found.append(Case("mutex, 2 threads", [*words, "--threads=2"], "events/s", 0.03))
    return found


def figure(case, text):
    """A test's figure in what was printed; more is better."""
    if case.unit == "MiB/s" and case.files:
        read = number(r"^ +read, MiB/s: +([\d.]+)", text)
        return read + number(r"^ +written, MiB/s: +([\d.]+)", text)
    if case.unit == "MiB/s":
        return number(r"MiB transferred \(([\d.]+) MiB/sec\)", text)
    if case.name == "cpu":
        return number(r"events per second: +([\d.]+)", text)
    events = number(r"total number of events: +(\d+)", text)
    return events / number(r"total time: +([\d.]+)s", text)


def number(pattern, text):
    """The number that a pattern finds."""
    found = re.search(pattern, text, flags=re.M)
    if not found:
        raise BenchError(f"{pattern} is not in what was printed:\n{text}")
    return float(found[1])


class Runner:
    """Runs the programs in folders of their own."""

    def __init__(self, programs, plan, say):
        self.programs, self.plan, self.say = programs, plan, say

    def compare(self):
        """Each case with the figures of both."""
        with tempfile.TemporaryDirectory(prefix="host-tests.", dir=self.plan.folder) as folder:
            folders = {who: pathlib.Path(folder, who.lower()) for who in (TIDEMARK, SYSBENCH)}
            for path in folders.values():
                path.mkdir()
            return [(case, self._pairs(case, folders)) for case in cases(self.plan)]

    def _pairs(self, case, folders):
        found = {TIDEMARK: [], SYSBENCH: []}
        for who, folder in folders.items() if case.files else ():
            self._run(who, [*case.words, "prepare"], folder)
        for pair in range(self.plan.pairs):
            order = (TIDEMARK, SYSBENCH) if pair % 2 == 0 else (SYSBENCH, TIDEMARK)
            for who in order:
                words = [*case.words, f"--time={self.plan.seconds}", "run"]
                said = self._run(who, words, folders[who])
                found[who].append(figure(case, said))
        for who, folder in folders.items() if case.files else ():
            self._run(who, [*case.words, "cleanup"], folder)
        each = ", ".join(f"{who} {runs[-1]:,.1f}" for who, runs in found.items())
        self.say(f"{case.name} ({case.unit}): {each}")
        return found

    def _run(self, who, words, folder):
        command = [*self.programs[who], *words]
        if who == TIDEMARK:
            command.append("--store=off")
        limit = self.plan.seconds + GRACE_S
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=limit,
                              check=False)
        if done.returncode != 0:
            what = " ".join(str(part) for part in command)
            raise BenchError(f"{what} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout
