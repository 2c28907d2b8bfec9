"""The table for people."""

from tpcc_costs.figures import judge
from vs_sysbench.report import table

BEGIN = "<!-- import: written by bench/import --write-readme -->"
END = "<!-- end of import -->"
HEADS = ["figure", "result", "reach", ""]
SPEED, MEBIBYTES, CAUGHT = 200.0, 64.0, 95.0


def figures_table(found):
    """Each figure with what is to be reached; a row of each tool, for which nothing is asked."""
    rows = []
    if found.speed:
        rate, memory, size = found.speed
        rows.append([f"interval lines of sysbench, a file of {size / 1e6:,.0f} MB", f"{rate:.0f} MB/s",
                     f"≥ {SPEED:.0f} MB/s", judge(rate, SPEED, more=True)])
        rows.append(["peak memory on it", f"{memory:.1f} MiB", f"≤ {MEBIBYTES:.0f} MiB", judge(memory, MEBIBYTES)])
    made = sum(of for _, of in found.caught.values())
    caught = sum(hits for hits, _ in found.caught.values())
    share = 100 * caught / made
    rows.append([f"changes that the audit finds, of {made:,}", f"{share:.1f} %", f"≥ {CAUGHT:.0f} %",
                 judge(share, CAUGHT, more=True)])
    for name, (hits, of) in found.caught.items():
        rows.append([f"of them in outputs of {name}", f"{hits:,} of {of:,}", "–", judge(hits, None)])
    rows.append([f"false alarms on {found.clean} unchanged outputs", str(found.alarms), "0", judge(found.alarms, 0)])
    for name, (hits, of) in found.taken.items():
        rows.append([f"figures taken over, {name}", f"{hits:,} of {of:,}", "all", judge(of - hits, 0)])
    return table(HEADS, rows)
