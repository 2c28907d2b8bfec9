"""What is run: runs are made up, then reported."""

import dataclasses
import pathlib
import tempfile

from vs_sysbench.errors import BenchError
from vs_sysbench.launch import measure as launched

LANGUAGES = ("en", "zh")
LIMIT_S = 600


@dataclasses.dataclass(frozen=True)
class Page:
    """One report that was made."""

    wall_s: float
    max_rss_bytes: int
    page_bytes: int


@dataclasses.dataclass
class Found:
    """What was found."""

    store_bytes: int
    pages: list = dataclasses.field(default_factory=list)


def measure(tidemark, made_up, plan, say):
    """Makes the store and the reports."""
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-report.") as folder:
        folder = pathlib.Path(folder)
        store, page = folder / "runs.db", folder / "report.html"
        made = done([made_up, f"--store={store}", f"--runs={plan.runs}",
                     f"--intervals={plan.intervals}"], folder)
        name = made.stdout.strip()
        found = Found(sum(file.stat().st_size for file in folder.glob("runs.db*")))
        say(f"{plan.runs} runs made in {made.wall_s:.1f} s")
        for _ in range(plan.repeats):
            for language in LANGUAGES:
                command = [tidemark, "report", name, f"--store={store}", f"--out={page}",
                           f"--lang={language}"]
                run = done(command, folder)
                text = page.read_text()
                if text.count('class="panel"') == 0 or "</html>" not in text:
                    raise BenchError("the page is not whole")
                size = page.stat().st_size
                found.pages.append(Page(run.wall_s, run.max_rss_bytes, size))
                say(f"{language}: {run.wall_s:.2f} s, {run.max_rss_bytes / 2**20:.0f} MiB, "
                    f"page of {size / 1e6:.2f} MB")
        return found


def done(command, folder):
    """A command that must end well."""
    run = launched(command, LIMIT_S, cwd=folder)
    if run.status != 0:
        what = " ".join(str(part) for part in command)
        raise BenchError(f"{what} ended with {run.status}\n{run.stdout}{run.stderr}")
    return run
