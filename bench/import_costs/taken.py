"""How many of the stated figures stand in the records of an import, on their lines."""

import collections
import json
import math
import pathlib
import subprocess
import tempfile

from vs_sysbench.errors import BenchError

from . import stated

# A factor is multiplied or divided by.
SHARE = 1e-9


def values(records):
    """What records of an import state: values by line and name."""
    found = collections.defaultdict(list)
    for record in records:
        imported = record.get("imported") or {}
        for figure in imported.get("figures", []):
            found[figure["line"], figure["name"]].append(figure["value"])
        for interval in imported.get("intervals", []):
            for name, value in {**interval, **interval.get("more", {})}.items():
                if isinstance(value, (int, float)):
                    found[interval["line"], name].append(value)
    return found


def missing(expected, records):
    """The expected figures that no record has."""
    found = values(records)
    return [one for one in expected
            if not any(math.isclose(value, one.value, rel_tol=SHARE) for value in found[one.line, one.name])]


def imported(program, output):
    """The records of an output."""
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-taken.") as folder:
        store, into = f"--store={folder}/runs.db", pathlib.Path(folder, "runs")
        done = subprocess.run([program, "import", store, str(output)], capture_output=True, text=True, check=False)
        # Nothing in it is known.
        if done.returncode == 2:
            return []
        if done.returncode != 0:
            raise BenchError(f"{output}: import ended with {done.returncode}: {done.stderr}")
        done = subprocess.run([program, "export", store, f"--out={into}/", "tag:imported"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"{output}: export ended with {done.returncode}: {done.stderr}")
        return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(into.iterdir())]


def count(program, outputs, say):
    """How many figures were taken over, and of how many, of all outputs."""
    hits = of = 0
    for output in outputs:
        expected = stated.expected(output)
        lost = missing(expected, imported(program, output)) if expected else []
        hits, of = hits + len(expected) - len(lost), of + len(expected)
        for one in lost[:3]:
            say(f"{output.name}:{one.line}: {one.name} = {one.value} was not taken over")
    return hits, of


def documents(folders):
    """The files of folders, and of those within them."""
    files = (path for folder in folders for path in sorted(folder.rglob("*")))
    ends = (".md", ".txt", ".log", ".csv", ".json", ".out")
    return [path for path in files
            if path.is_file() and path.suffix in ends and not path.name.endswith(".figures.json")]
