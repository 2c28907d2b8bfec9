"""One change in an output: a figure that others determine, a line that a tool always prints, a client."""

import re

# Figures that others determine, by what stands before them.
DETERMINED = [
    # sysbench
    r"read: +", r"write: +", r"other: +", r"total: +", r"transactions: +", r"transactions: +\d+ +\(",
    r"queries: +", r"queries: +\d+ +\(", r"total time: +", r"total number of events: +", r"avg: +", r"sum: +",
    r"events \(avg/stddev\): +", r"execution time \(avg/stddev\): +", r"qps: ", r"r/w/o: ", r"Number of threads: ",
    # pgbench
    r"actually processed: ", r"^tps = ", r"latency average = ", r"number of clients: ",
    # go-ycsb and go-tpc
    r"Count: ", r"OPS: ", r"TPM: ", r"Sum\(ms\): ", r"^TOTAL .*Avg\(us\): ",
    # BenchBase
    r"nanoSeconds=", r"measuredRequests=", r"measuredRequests=\d+\) = ", r"\(throughput\), ",
    r"procedures\.Payment/02 +\[ *",
]
# Lines that a tool always prints.
ALWAYS = [
    r"^ +(?:read|write|other|total|transactions|queries|ignored errors|reconnects): .*\n",
    r"^ +(?:total time|total number of events|min|avg|max|sum): .*\n", r"^ +execution time \(.*\n",
    r"^(?:latency average|initial connection time|tps) = .*\n", r"^number of transactions actually .*\n",
    r"^\[Summary\] .*\n", r"^\[INFO .* Results\(.*\n",
]
# Lines over time between two others.
OVER_TIME = [r"^\[ [2-9]s \] .*\n", r"^progress: [2-5]0\.0 s, .*\n", r"^(?:READ|UPDATE) +- Takes\(s\): [23]0\.0, .*\n",
             r"^\[Current\] .*\n"]
CLIENT = r"^## client 2\n.*?(?=^## client 3$)"


def changed(text, chance):
    """What was changed, and the text with it: a figure by more than 10 %, or without a part."""
    client = re.search(CLIENT, text, flags=re.M | re.S)
    if client and chance.random() < 0.5:
        return "client removed", text[:client.start()] + text[client.end():]
    if chance.random() < 0.2:
        labels = chance.choice([ALWAYS, OVER_TIME])
        lines = [m for label in labels for m in re.finditer(label, text, flags=re.M)]
        if lines:
            lost = chance.choice(lines)
            return f"lost line: {lost.group().strip()}", text[:lost.start()] + text[lost.end():]
    places = [m.end() for label in DETERMINED for m in re.finditer(label, text, flags=re.M)]
    while True:
        at = chance.choice(places)
        found = re.match(r"\d+(\.\d+)?", text[at:])
        if not found or float(found.group()) == 0:
            continue
        figure = found.group()
        factor = chance.choice([chance.uniform(0.1, 0.88), chance.uniform(1.12, 9)])
        decimals = len(figure.partition(".")[2])
        new = f"{float(figure) * factor:.{decimals}f}"
        # Rounding may have made less of it.
        if abs(float(new) / float(figure) - 1) <= 0.1:
            continue
        return text[:at].rsplit("\n", 1)[-1].strip() + " …", text[:at] + new + text[at + len(figure):]
