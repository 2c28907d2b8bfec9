"""Makes causes, runs Tidemark against them, and keeps what it said."""

import contextlib
import json
import shutil
import subprocess

from vs_sysbench.errors import BenchError

from .making import Lab, Run
from .pairs import BESIDE, NO_WAIT
from .proxy import Distance
from .servers import ENGINES

#: What servers call deadlocks.
DEADLOCKS = ("deadlocks", "innodb_deadlocks")
#: So often a healthy run is made at most.
TRIES = 3


class Kept:
    """The folder in which runs are kept: a line of JSON and a record each."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = folder / "outcomes.jsonl"
        (folder / "records").mkdir(exist_ok=True)

    def add(self, outcome, record):
        """One run more."""
        outcome["number"] = sum(1 for _ in self.read())
        if record.exists():
            shutil.move(record, self.folder / "records" / f"{outcome['number']:04}.json")
        with open(self.lines, "a", encoding="utf-8") as file:
            file.write(json.dumps(outcome, ensure_ascii=False) + "\n")
        return outcome

    def read(self):
        """All runs kept."""
        if not self.lines.exists():
            return []
        return [json.loads(line) for line in self.lines.read_text(encoding="utf-8").splitlines()]


class Experiment:
    """All that is made on one server."""

    def __init__(self, server, client, slow_disk, distance, kept, plan, say):
        self.server, self.client, self.slow_disk = server, client, slow_disk
        self.distance, self.kept, self.plan, self.say = distance, kept, plan, say
        self.baselines = {}

    def prepare(self, loads):
        """All tables, while the server has memory enough."""
        self.server.with_settings(())
        for load in loads:
            self.server.load(load.tables)

    def baseline(self, load, disk=(), each_way_ms=0):
        """What a load does with no cause made, on a disk that is such, so far away."""
        key = load, disk, each_way_ms
        if key not in self.baselines:
            self.server.with_settings(())
            self._settle()
            with self.slow_disk.slowed(**dict(disk)), self._away(each_way_ms) as port:
                found = self._run(load, self._url(load, port), self.plan.baseline_s)
            self.baselines[key] = found
            self.say(f"{self.server.engine}, nothing made: {load.script}, {load.sessions} sessions: "
                     f"{found.per_second:,.0f}/s, {found.mean_ms:.2f} ms")
        return self.baselines[key]

    @contextlib.contextmanager
    def _away(self, each_way_ms):
        """The port at which the server is so far away; none where it is at its own."""
        if not each_way_ms:
            yield None
            return
        with Distance(self.distance, self.server.address(), each_way_ms) as proxy:
            yield proxy.port

    def _run(self, load, url, seconds, group=None):
        return self.client.run(load, url, seconds, group)

    def _url(self, load, port=None):
        return self.server.url_of(load.tables.database, port)

    def _settle(self):
        """What runs before have left to do is not done in the next."""
        if self.server.driver == "pgsql":
            self.server.sql("CHECKPOINT")

    def made(self, kind, name, causes, load, healthy, slower):
        """One run with one or two causes; what came of it."""
        disk = tuple(asked for cause in causes for asked in cause.disk)
        each_way_ms = max(cause.each_way_ms for cause in causes)
        baseline = self.baseline(healthy, disk, each_way_ms)
        self.server.with_settings(s for cause in causes for s in cause.settings_of(
            self.server.engine))
        self._settle()
        outcome = self._outcome(kind, name, causes, load)
        outcome["dose"] = next((cause.dose for cause in causes if cause.dose), None)
        try:
            with self._away(each_way_ms) as port:
                measured, proofs = self._with(causes, load, baseline, outcome, port)
        except (BenchError, subprocess.TimeoutExpired) as error:
            outcome["error"] = str(error)
            outcome["proof"] = f"the run failed: {str(error).splitlines()[0]}"
            return self._keep(outcome)
        ratio = baseline.per_second / max(1e-9, measured.per_second)
        said = [words for _, words in proofs if words]
        if slower:
            said.append(f"{ratio:.1f} times slower")
        outcome.update(
            holds=all(held for held, _ in proofs), slower=ratio,
            made=all(held for held, _ in proofs) and ratio >= slower, proof="; ".join(said),
            per_second=measured.per_second, mean_ms=measured.mean_ms, run=measured.id,
            healthy_per_second=baseline.per_second, healthy_ms=baseline.mean_ms)
        if not self.plan.diagnose:
            outcome["diagnosis"] = self.client.diagnosis(measured.id)
        return self._keep(outcome)

    def _outcome(self, kind, name, causes, load):
        return {
            "kind": kind, "engine": self.server.engine, "name": name,
            "causes": [cause.name for cause in causes],
            "load": " ".join(load.words(self.server.engine)), "made": False, "holds": False,
            "proof": "", "error": None, "diagnosis": None, "experiments": None,
            "true_too": [], "asked": "experiments" if self.plan.diagnose else "run",
        }

    def _keep(self, outcome):
        return self.kept.add(outcome, self.client.record)

    def _with(self, causes, load, baseline, outcome, port):
        """The run itself, inside of all that is made."""
        seconds = max([self.plan.seconds, *(self.plan.least(cause) for cause in causes)])
        with contextlib.ExitStack() as stack:
            for cause in causes:
                stack.enter_context(self.slow_disk.slowed(**dict(cause.disk)))
            lab = Lab(self.server, self.client, self.slow_disk, self.distance, load,
                      seconds, baseline.per_second)
            made = [stack.enter_context(cause.make(lab)) for cause in causes]
            before = self.server.counters()
            port = next((m.port for m in made if m.port), port)
            group = next((m.group for m in made if m.group), None)
            for one in made:
                load = one.load(load) if one.load else load
            url = self._url(load, port)
            measured = self._run(load, url, seconds, group)
            run = Run(measured, baseline, before, self.server.counters())
            proofs = [one.prove(run) for one in made]
            proofs += [cause.prove(run) for cause in causes if cause.prove]
            outcome["true_too"] = sorted({name for one in made for name in one.true_too()})
            if self.plan.diagnose:
                outcome["experiments"] = self.client.diagnose(load, url, self.plan.budget_s, group)
            return measured, proofs

    def healthy(self, healthy):
        """A run with nothing made. One in which sessions ran into deadlocks by the server's own count
        has a bottleneck of its own: it is told, and made again."""
        for _ in range(TRIES):
            outcome = self._healthy(healthy)
            yield outcome
            if outcome["made"] or outcome["error"]:
                return

    def _healthy(self, healthy):
        load = healthy.load
        if healthy.scheduled:
            self.server.with_settings(())
            load = healthy.load_at(self.baseline(load).per_second, self.plan.seconds)
        else:
            self.server.with_settings(NO_WAIT[self.server.engine])
        self._settle()
        outcome = self._outcome("healthy", healthy.name, [], load)
        beside = contextlib.nullcontext() if healthy.beside is None else \
            BESIDE[healthy.beside](self.server, load.tables.database)
        before = self.server.counters()
        try:
            with beside:
                measured = self._run(load, self._url(load), self.plan.seconds)
        except BenchError as error:
            outcome["error"] = str(error)
            return self._keep(outcome)
        after = self.server.counters()
        deadlocks = sum(after[name] - before[name] for name in DEADLOCKS if name in after)
        if deadlocks:
            outcome["proof"] = f"{deadlocks:.0f} deadlocks"
            outcome["true_too"] = ["row-locks"]
        outcome.update(made=not deadlocks, holds=not deadlocks, per_second=measured.per_second,
                       mean_ms=measured.mean_ms, run=measured.id,
                       diagnosis=self.client.diagnosis(measured.id))
        return self._keep(outcome)


def in_turn(causes):
    """Causes with the same settings one after the other: each change starts the server anew."""
    return sorted(causes, key=lambda cause: [cause.settings_of(engine) for engine in ENGINES])
