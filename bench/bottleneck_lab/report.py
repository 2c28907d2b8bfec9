"""The tables for people."""

import collections

from vs_sysbench.report import table

from . import figures
from .causes import BY_NAME, DOSES
from .figures import NOTHING

BEGIN = "<!-- bottlenecks: written by bench/bottlenecks --write-readme -->"
END = "<!-- end of bottlenecks -->"


def line(outcome):
    """One run."""
    made = "" if outcome["made"] else " (not made)"
    said = outcome["proof"] or (outcome["error"] or "").partition("\n")[0]
    told = figures.class_found(outcome) if figures.by_experiments(outcome) else \
        figures.first(outcome)
    return f"{outcome['engine']}, {outcome['name']}{made}: {said} → {told}"


def word(met):
    """A word."""
    return "met" if met else "missed"


def share(part, whole):
    """For people."""
    return f"{part} of {whole}" + (f" ({part / whole:.0%})" if whole else "")


def all_of(outcomes):
    """Every table that the runs give."""
    asked = [o for o in outcomes if figures.by_experiments(o)]
    observed = [o for o in outcomes if not figures.by_experiments(o)]
    parts = [classes(asked)] if asked else []
    if asked and not observed:
        return parts[0]
    by_kind = {kind: [o for o in observed if o["kind"] == kind]
               for kind in ("single", "pair", "healthy")}
    if by_kind["single"]:
        parts += ["### Cause made × first finding", confusion(by_kind["single"]),
                  singles(by_kind["single"])]
    if by_kind["pair"]:
        parts += ["### Two causes at once", pairs(by_kind["pair"])]
    if by_kind["healthy"]:
        parts += ["### Nothing made", healthy(by_kind["healthy"])]
    return "\n\n".join([*parts, "### All runs", together(observed)])


def stands_on(outcomes):
    """How many runs a matrix stands on, of those in which the cause took hold."""
    each = collections.Counter((o["name"], o["engine"]) for o in outcomes)
    if not each:
        return "It stands on no run."
    least, most = min(each.values()), max(each.values())
    repeats = f"{least}" if least == most else f"{least} to {most}"
    causes = len({name for name, _ in each})
    engines = ", ".join(sorted({engine for _, engine in each}))
    return f"Runs: {len(outcomes)}, of {causes} of {len(BY_NAME)} causes on {engines}, " \
        f"{repeats} of each on each."


def confusion(outcomes):
    """Rows are causes made, columns what was named first."""
    found = figures.matrix(outcomes)
    columns = sorted({told for row in found.values() for told in row}, key=lambda t: (t == NOTHING, t))
    rows = []
    for name in BY_NAME:
        if name in found:
            cells = []
            for told in columns:
                count = found[name][told]
                text = str(count) if count else "·"
                cells.append(f"**{text}**" if count and told in BY_NAME[name].called else text)
            rows.append([name, *cells])
    return table(["made", *columns], rows)


def singles(outcomes):
    """Each cause: how often it took hold and how often it was named."""
    heads = ["made", "named by", "MariaDB", "PostgreSQL", "not made", "proof (last run)"]
    rows, met = [], []
    for name, cause in BY_NAME.items():
        of_cause = [o for o in outcomes if o["name"] == name]
        if not of_cause:
            continue
        cells = []
        for engine in ("mariadb", "postgres"):
            held = [o for o in of_cause if o["engine"] == engine and o["made"]]
            count = sum(map(figures.right, held))
            cells.append(f"{count} of {len(held)}" if held else "–")
            if held:
                met.append(count / len(held) >= figures.REACH_CAUSE)
        missing = sum(not o["made"] for o in of_cause)
        proofs = [f"{o['engine']}: {o['proof']}" for o in last_of_each_engine(of_cause)]
        rows.append([name, ", ".join(cause.called), *cells, str(missing), "; ".join(proofs)])
    held = [o for o in outcomes if o["made"]]
    count = sum(map(figures.right, held))
    exactly = sum(map(figures.exactly_right, held))
    by_dose = [(dose, [o for o in held if o.get("dose") == dose]) for dose in DOSES]
    by_dose = "; ".join(f"{dose} {share(sum(map(figures.right, of)), len(of))}"
                        for dose, of in by_dose if of)
    told = (f"First finding right: {share(count, len(held))}, reach {figures.REACH_SINGLE:.0%}: "
            f"{word(held and count >= figures.REACH_SINGLE * len(held))}; every cause at least 4 of "
            f"5: {word(met and all(met))}. By its own name, the first of those that name it: "
            f"{share(exactly, len(held))}.")
    if by_dose:
        told += f" By dose: {by_dose}."
    told += f" {stands_on(held)}"
    return f"{table(heads, rows)}\n\n{told}"


def last_of_each_engine(outcomes):
    """The last run on each engine."""
    return {o["engine"]: o for o in outcomes}.values()


def pairs(outcomes):
    """Each pair."""
    rows, both_all, first_all, held_all, firm = [], 0, 0, 0, 0
    for name in dict.fromkeys(o["name"] for o in outcomes):
        of_pair = [o for o in outcomes if o["name"] == name]
        held = [o for o in of_pair if o["made"]]
        both = sum(all(figures.names(o, c) for c in figures.causes_of(o)) for o in held)
        one = sum(map(figures.right, held))
        firm += sum(all(figures.names_firmly(o, c) for c in figures.causes_of(o)) for o in held)
        told = sorted({figures.first(o) for o in held})
        rows.append([name, str(len(held)), str(len(of_pair) - len(held)), f"{both}", f"{one}",
                     ", ".join(told) or "–"])
        both_all, first_all, held_all = both_all + both, first_all + one, held_all + len(held)
    heads = ["made", "runs", "not made", "both named", "one of them first", "first"]
    told = (f"Both named: {share(both_all, held_all)}, reach {figures.REACH_PAIR:.0%}: "
            f"{word(held_all and both_all >= figures.REACH_PAIR * held_all)} (both with more than "
            f"low confidence: {firm}); one of them first: "
            f"{share(first_all, held_all)}, reach 100%: {word(held_all and first_all == held_all)}.")
    return f"{table(heads, rows)}\n\n{told}"


def healthy(outcomes):
    """What runs with nothing made say."""
    ran = [o for o in outcomes if o["made"]]
    alarms = [(o, figures.false_alarms(o)) for o in ran]
    wrong = [(o, told) for o, told in alarms if told]
    silent = sum(figures.first(o) == NOTHING for o in ran)
    failed = sum(bool(o["error"]) for o in outcomes)
    lines = [f"A bottleneck other than {' or '.join(figures.HONEST[:2])}: "
             f"{share(len(wrong), len(ran))}, reach 0: {word(ran and not wrong and not silent)}; "
             f"without a diagnosis: {silent}; failed: {failed}; with deadlocks, and repeated: "
             f"{len(outcomes) - len(ran) - failed}."]
    lines += [f"- {o['engine']}, {o['name']}: {', '.join(told)}" for o, told in wrong]
    return "\n".join(lines)


def measured(sums):
    """How far what was measured is from the mean, before it is made to add up."""
    shares = sorted(found.measured for found in sums if found.measured is not None)
    if not shares:
        return []
    near = sum(abs(one - 1) <= figures.SUM_PART for one in shares)
    below = sum(one < 1 - figures.SUM_PART for one in shares)
    quartile = len(shares) // 4
    return [f"What was measured, before it is made to add up: within {figures.SUM_PART:.0%} of the mean in "
            f"{share(near, len(shares))}, less in {below} (the rest is unexplained), more in "
            f"{len(shares) - near - below} (made smaller); quartiles {shares[quartile]:.2f}, "
            f"{shares[len(shares) // 2]:.2f}, {shares[-1 - quartile]:.2f} of the mean."]


def together(outcomes):
    """What holds for all kinds of runs."""
    ran = list(filter(figures.ran, outcomes))
    wrong = [(o, figures.confident_and_wrong(o)) for o in ran]
    wrong = [(o, told) for o, told in wrong if told]
    sums = [found for o in ran for found in figures.sums(o)]
    near = sum(found.near for found in sums)
    lines = [f"Confident and wrong: {len(wrong)} of {len(ran)} runs, reach 0: {word(not wrong)}."]
    lines += [f"- {o['engine']}, {o['name']}: {', '.join(told)}" for o, told in wrong]
    if sums:
        worst = max(abs(found.parts - 1) for found in sums)
        middle = sorted(abs(found.unexplained) for found in sums)[len(sums) // 2]
        lines.append(f"Parts within {figures.SUM_PART:.0%} of the mean latency: "
                     f"{share(near, len(sums))}, worst {worst:.1%} off; unexplained: {middle:.1%} "
                     f"in the median.")
        lines += measured(sums)
    else:
        lines.append("No run tells the parts of its latency.")
    failed = [o for o in outcomes if o["error"]]
    lines += [f"- failed: {o['engine']}, {o['name']}: {o['error'].splitlines()[0]}" for o in failed]
    return "\n".join(lines)


def classes(outcomes):
    """What experiments alone find: rows are causes made, columns classes found."""
    held = [o for o in outcomes if o["made"] and figures.has_class(o)]
    columns = sorted({figures.class_found(o) for o in held})
    rows = []
    for name, cause in BY_NAME.items():
        found = [figures.class_found(o) for o in held if o["name"] == name]
        if found:
            counts = [(told, found.count(told)) for told in columns]
            rows.append([name, " or ".join(cause.classes),
                         *(f"**{count}**" if count and told in cause.classes else str(count or "·")
                           for told, count in counts)])
    count = sum(map(figures.class_right, held))
    told = (f"Right class with nothing observed: {share(count, len(held))}, reach "
            f"{figures.REACH_CLASS:.0%}: "
            f"{word(held and count >= figures.REACH_CLASS * len(held))}. {stands_on(held)}")
    made = {name for o in held for name in figures.classes_of(o)}
    never = [name for name in figures.CLASSES if name not in made]
    if never:
        told += f" Classes that no run made: {', '.join(never)}."
    not_made = [f"- not made: {line(o)}" for o in outcomes if not o["made"]]
    heads = ["made", "class", *columns]
    matrix = table(heads, rows) if rows else "No cause took hold."
    return "\n\n".join(["### Experiments with nothing observed", matrix,
                        "\n".join([told, *not_made])])
