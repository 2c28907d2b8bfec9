"""What Tidemark says about a run and about a check."""

import dataclasses
import json
import re

from vs_sysbench.errors import BenchError

# "Condition 3.3.2.10: holds (0.63 s): a customer owes what ..."
CONDITION = re.compile(r"^Condition ([\d.]+): (.*) \(([\d.]+) s\): ", re.MULTILINE)
# "13 of 13 consistency conditions hold (2.31 s)"
CHECKED = re.compile(r"^(\d+) of (\d+) consistency conditions hold \(([\d.]+) s", re.MULTILINE)
CONDITIONS = {f"3.3.2.{number}" for number in range(1, 13)}


@dataclasses.dataclass(frozen=True)
class Said:
    """A run as its record tells it."""

    statements: int
    transactions: int
    new_orders: int
    elapsed_s: float
    errors: int
    # Lines of its orders, and New-Orders rolled back on purpose.
    lines: int
    rolled_back: int


def record(text):
    """The run record, as `--out` writes it."""
    try:
        read = json.loads(text)
        totals = read["totals"]
        notes = totals.get("notes", {})
        counts = {name: int(stats["count"]) for name, stats in totals["types"].items()}
        said = Said(
            statements=sum(int(totals["statements"][k]) for k in ("read", "write", "other")),
            # The rest of a Delivery whose terminal has its reply is no transaction of its own.
            transactions=sum(n for name, n in counts.items() if name != "DeferredDelivery"),
            new_orders=counts.get("NewOrder", 0),
            elapsed_s=float(totals["elapsed_s"]),
            errors=int(totals["ignored_errors"]) + int(totals["reconnects"]),
            lines=int(notes.get("order_line", 0)),
            rolled_back=int(notes.get("rolled_back", 0)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BenchError(f"the run record can't be read: {error!r}") from error
    if read.get("state") != "finished" or not said.transactions:
        raise BenchError(f"the run did not end well: {read.get('state')}, {said}")
    return said


@dataclasses.dataclass(frozen=True)
class Checked:
    """A check: seconds of it all, and of each condition."""

    seconds: float
    conditions: dict

    @property
    def slowest(self):
        """The condition that took longest, and its seconds."""
        return max(self.conditions.items(), key=lambda item: item[1])


def check(text):
    """What `check` prints; an error unless all twelve conditions hold."""
    found = {name: (verdict, float(s)) for name, verdict, s in CONDITION.findall(text)}
    total = CHECKED.findall(text)
    if len(total) != 1 or not CONDITIONS <= found.keys():
        raise BenchError(f"the check's output has not every verdict:\n{text}")
    broken = [name for name, (verdict, _) in found.items() if verdict != "holds"]
    if broken or total[0][0] != total[0][1]:
        raise BenchError(f"conditions {broken} do not hold:\n{text}")
    return Checked(float(total[0][2]), {name: s for name, (_, s) in found.items()})
