"""The command line, and the order of the work."""

import argparse
import json
import subprocess
import tempfile
import time
import urllib.parse

from vs_sysbench import machine
from vs_sysbench.errors import BenchError
from vs_sysbench.report import table
from vs_sysbench.script import Facts, add_output_options, add_program, names_of, positive, \
    progress_of, run

from . import faults
from .hosts import LIMIT_S, Agents, Nats, environment, last_record
from .judged import complaint, ratio_interval, skew
from .places import Clock, ServerApart

BEGIN = "<!-- clients: written by bench/clients --write-readme -->"
END = "<!-- end of clients -->"
PARTS = ("coordinator", "merged", "start", "faults", "same")
# Parts that need no database.
ALONE = {"coordinator", "merged"}
# Clients and seconds whose samples are compared with what is merged of them.
MERGED = (8, 25)
# Monotonic clocks of clients are so many seconds apart.
APART_S = 1000
# What is to be reached.
MOST_SKEW_MS, MOST_CORES, MOST_MIB, MOST_LAG_MS = 5.0, 1.0, 256, 2000
TABLES = ["--tables=1", "--table-size=1000"]


def parser():
    """The options."""
    p = argparse.ArgumentParser(
        prog="bench/clients",
        description="Measures runs of several client hosts, all on this one: what coordinating "
        "hundreds of simulated agents takes, whether merged histograms are those of all samples, how far "
        "apart clients start, whether faults lose or double anything, and whether four clients of 16 "
        "sessions do what one of 64 does. As root, clients have clocks, networks and disks of their own "
        "where that matters; else their rows say so.",
    )
    p.add_argument("--parts", type=names_of(PARTS), default=list(PARTS),
                   help=f"which, of {', '.join(PARTS)} (all)")
    p.add_argument("--agents", type=positive, help="simulated agents (300)")
    p.add_argument("--seconds", type=positive, help="seconds of the coordinator's run (60)")
    p.add_argument("--faults", type=positive, help="how often each fault is made, half of them with each "
                   "policy (20)")
    p.add_argument("--kinds", type=names_of(faults.FAULTS), default=faults.FAULTS,
                   help=f"which faults, of {', '.join(faults.FAULTS)} (all)")
    p.add_argument("--pairs", type=positive, help="pairs of runs of one client and of four (10)")
    add_program(p, "--tidemark", "the program to run, instead of building this workspace's")
    add_program(p, "--simulated", "the program that simulates agents, likewise")
    add_output_options(p)
    return p


def main():
    """Runs the command; its exit code."""
    return run(parser(), measure_all, (BEGIN, END), PARTS)


def sizes(args):
    """Agents, seconds, faults and pairs."""
    smoke = args.smoke
    return (args.agents or (10 if smoke else 300), args.seconds or (3 if smoke else 60),
            args.faults or (1 if smoke else 20), args.pairs or (1 if smoke else 10))


def measure_all(args):
    """All parts; their table as text."""
    facts = Facts(args)
    say = progress_of(args)
    # What coordinating takes is a figure.
    tidemark, simulated = machine.programs(args.smoke, {
        "tidemark": args.tidemark, "simulated-clients": args.simulated})
    agents, seconds, each, pairs = sizes(args)
    rows = []
    if "coordinator" in args.parts:
        rows += coordinator(simulated, agents, seconds, say)
    if "merged" in args.parts:
        rows += merged(simulated, say)
    if set(args.parts) - ALONE:
        with tempfile.TemporaryDirectory(prefix="tidemark-clients.") as folder, \
                machine.OwnServers(args.smoke) as own, Nats() as nats:
            # By a Unix socket, which clients reach from whatever network they are in.
            socket = urllib.parse.quote(f"{own.folder}/mariadb/s.sock")
            target, password = without_password(own.urls["mysql"])
            target = f"{target}?socket={socket}"
            env = environment(folder, password)
            sysbench(tidemark, target, env, ["prepare"])
            try:
                if "start" in args.parts:
                    rows += start(tidemark, nats, target, env, args.smoke, say)
                if "faults" in args.parts:
                    stage = faults.Stage(tidemark, nats, target, env, 8 if args.smoke else 12)
                    made = args.kinds[:1] if args.smoke else args.kinds
                    rows += all_faults(stage, made, each, say)
                if "same" in args.parts:
                    apart = ServerApart(own.pids["mysql"])
                    rows += same(tidemark, nats, target, env, apart, pairs, args.smoke, say)
            finally:
                sysbench(tidemark, target, env, ["cleanup"])
    text = table(["figure", "found", "reach", ""], rows)
    return "\n\n".join([facts.markdown(tidemark, [], []), text])


def word(is_met):
    """As tables have it."""
    return "met" if is_met else "missed"


def without_password(url):
    """A target's URL without its password, and that."""
    parts = urllib.parse.urlsplit(url)
    host = parts.netloc.rsplit("@", 1)[1]
    bare = parts._replace(netloc=f"{parts.username}@{host}").geturl()
    return bare, urllib.parse.unquote(parts.password or "")


def sysbench(program, target, env, words, limit_s=LIMIT_S):
    """Runs it; its record is the store's last."""
    command = [str(program), "sysbench", "oltp_read_only", f"--target={target}", *TABLES, *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=limit_s)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")


def coordinator(program, count, seconds, say):
    """What coordinating simulated agents takes."""
    with Nats() as nats:
        words = [nats.url, str(count), str(seconds)]
        agents = subprocess.Popen([str(program), "agents", *words], stdin=subprocess.PIPE)
        try:
            found = coordinated(program, words, count)
        finally:
            agents.stdin.close()
            agents.wait(LIMIT_S)
    say(f"{count} simulated agents: {found}")
    cores = found["cpu_s"] / found["wall_s"]
    of = f"{count} simulated agents, {seconds} s:"
    whole = found["intervals"] == count * seconds and found["lost"] == 0
    return [
        [f"{of} coordinator", f"{cores:.2f} cores", f"≤ {MOST_CORES:.0f}", word(cores <= MOST_CORES)],
        [f"{of} memory", f"{found['peak_rss_mib']:.0f} MiB", f"≤ {MOST_MIB} MiB",
         word(found["peak_rss_mib"] <= MOST_MIB)],
        [f"{of} longest lag", f"{found['lag_ms'] / 1000:.2f} s", "≤ 2 s",
         word(found["lag_ms"] <= MOST_LAG_MS)],
        [f"{of} intervals", f"{found['intervals']:,} of {count * seconds:,}", "all", word(whole)],
    ]


def coordinated(program, words, count):
    """One run of the agents that begin to be there."""
    for _ in range(60):
        done = subprocess.run([str(program), "coordinate", *words], capture_output=True, text=True,
                              timeout=int(words[2]) + LIMIT_S)
        if done.returncode == 0:
            return json.loads(done.stdout)
        # Agents that have not registered yet.
        if "Agents {" not in done.stderr:
            break
        time.sleep(0.5)
    raise BenchError(f"the coordinator failed: {done.stderr}")


def merged(program, say):
    """Whether what is merged of clients is what one histogram of all samples is, to the byte."""
    clients, seconds = MERGED
    done = subprocess.run([str(program), "merged", str(clients), str(seconds)], capture_output=True,
                          text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise BenchError(f"the comparison failed: {done.stderr}")
    found = json.loads(done.stdout)
    say(f"merged: {found}")
    is_same = found["is_same"] and found["are_parts_same"] and found["merged"] == found["samples"]
    return [[f"histogram merged of {clients} clients, in any order and each interval told twice, and one of "
             f"all {found['samples']:,} samples", "the same bytes" if is_same else "differ",
             "the same bytes", word(is_same)]]


def start(program, nats, target, env, smoke, say):
    """How far apart eight clients start, by what the record states."""
    names = [f"s{n}" for n in range(2 if smoke else 8)]
    found, places = [], {}
    if Clock.is_possible():
        places = {name: Clock(APART_S * (n + 1)) for n, name in enumerate(names)}
    ahead_ms = {name: place.ahead_ms for name, place in places.items()}
    with Agents(program, nats, names, env, places=places) as agents:
        for _ in range(1 if smoke else 10):
            sysbench(program, target, env, [
                f"--clients={','.join(names)}", f"--nats={nats.url}", f"--threads={len(names)}",
                "--time=2", "run"])
            found.append(skew(last_record(program, env), ahead_ms))
            say(f"start of {len(names)} clients: skew {found[-1][0]:.2f} ms, error "
                f"{found[-1][1]:.2f} ms")
            agents.wait()
    worst, error = max(one[0] for one in found), max(one[1] for one in found)
    within = sum(one[2] for one in found)
    clocks = f"clocks {APART_S:,} s apart" if places else "one clock: no time namespaces here"
    of = f"start of {len(names)} clients, {clocks}, {len(found)} runs:"
    return [
        [f"{of} largest skew", f"{worst:.2f} ms", f"≤ {MOST_SKEW_MS:.0f} ms",
         word(worst <= MOST_SKEW_MS)],
        [f"{of} true offset within the stated error (largest {error:.2f} ms)",
         f"{within} of {len(found)}", f"{len(found)} of {len(found)}", word(within == len(found))],
    ]


def all_faults(stage, made, each, say):
    """Each fault so many times."""
    rows = []
    for fault in made:
        why = stage.impossible(fault)
        if why:
            say(f"{fault}: not made: {why}")
            rows.append([f"{fault}: not made: {why}", "–", "–", "–"])
            continue
        right, slowest, wrong = 0, None, []
        for number in range(each):
            policy = ("fail", "continue")[number % 2]
            why, noticed = stage.once(fault, policy)
            right += why is None
            if why:
                wrong.append(why)
            if noticed is not None:
                slowest = max(slowest or 0.0, noticed)
            say(f"{fault}, {policy}: {why or 'right'}"
                + (f", noticed after {noticed:.2f} s" if noticed is not None else ""))
        rows.append([f"{stage.said(fault)}: nothing lost or doubled, verdict as the policy says",
                     f"{right} of {each}" + (f" ({wrong[0]})" if wrong else ""),
                     f"{each} of {each}", word(right == each)])
        if slowest is not None:
            is_kill = fault.endswith("killed")
            rows.append([f"{fault}: noticed", f"≤ {slowest:.2f} s",
                         f"≤ {faults.NOTICED_S:.0f} s" if is_kill else "–",
                         word(slowest <= faults.NOTICED_S) if is_kill else "–"])
    return rows


def same(program, nats, target, env, apart, pairs, smoke, say):
    """Whether four clients of 16 sessions do what one of 64 does, on a server that is the limit."""
    names, seconds = ["t0", "t1", "t2", "t3"], 2 if smoke else 10
    ratios = []
    with apart, Agents(program, nats, names, env) as agents:
        for number in range(pairs):
            rates = {}
            turn = [["t0"], names]
            for clients in (turn if number % 2 == 0 else turn[::-1]):
                sysbench(program, target, env, [
                    f"--clients={','.join(clients)}", f"--nats={nats.url}", "--threads=64",
                    f"--time={seconds}", "--warmup-time=1", "run"])
                record = last_record(program, env)
                why = complaint(record, "finished", [])
                if why:
                    raise BenchError(f"{len(clients)} clients: {why}")
                totals = record["totals"]
                rates[len(clients)] = totals["all"]["count"] / totals["elapsed_s"]
                agents.wait()
            ratios.append(rates[4] / rates[1])
            say(f"1 client {rates[1]:,.0f}/s | 4 clients {rates[4]:,.0f}/s | ratio {ratios[-1]:.3f}")
    middle, interval = ratio_interval(ratios)
    shown = "–" if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}"
    holds = interval is not None and interval[0] <= 1 <= interval[1]
    where = ", server and clients on a processor each" if apart.is_possible else ""
    return [[f"throughput of 4 clients of 16 over 1 of 64{where}, {pairs} pairs",
             f"{middle:.3f} ({shown})", "interval contains 1", word(holds)]]
