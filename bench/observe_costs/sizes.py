"""What a record's bytes are spent on."""

import dataclasses
import json
import re

# What of a series is of its points.
OF_POINTS = ("values", "gaps")
BLANKS = "line feeds and indents"
# The list with an element for each second, and its blanks: a record's own keys are indented once.
INTERVALS = re.compile(r'^  "intervals": \[.*?^  \]', re.MULTILINE | re.DOTALL)


@dataclasses.dataclass
class Sizes:
    """Bytes by part, and what of all of them grows with the run."""

    parts: dict
    growing: int


def size(value):
    """Bytes of a value as JSON without blanks."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def sizes_of(text):
    """Of a record's text."""
    record = json.loads(text)
    parts, growing = {}, 0
    for key, value in record.items():
        if key != "series":
            parts[key] = size(value)
            continue
        for series in value:
            part = f"series of {series['source']}"
            parts[part] = parts.get(part, 0) + size(series)
            growing += sum(len(series.get(name) or "") for name in OF_POINTS)
    parts[BLANKS] = len(text.encode()) - size(record)
    intervals = INTERVALS.search(text)
    growing += len(intervals[0].encode()) if intervals else 0
    return Sizes(parts, growing)
