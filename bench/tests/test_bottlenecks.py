"""Known bottlenecks: what counts as named, how limits are undone, what is printed.
Run: python3 -m unittest discover -s bench/tests"""

import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from bottleneck_lab import causes, command, experiment, figures, limits, making, pairs, report
from bottleneck_lab.runs import Load
from bottleneck_lab.servers import ENGINES, Server, Tables
from bottleneck_lab.slow_disk import FIELDS, SlowDisk
from vs_sysbench.errors import BenchError

# DIAG's list of what a finding may be called.
IDS = {
    "client-cpu", "network-distance", "too-few-sessions", "server-cpu", "commit-log", "disk-rate",
    "cache-misses", "row-locks", "lock-held", "latches", "connection-limit", "connection-churn",
    "checkpoints", "cleanup", "long-transaction", "store-imbalance", "missing-index", "overload",
    "cpu-quota", "neighbour", "coherency", "server-stalls", "offered-load", "not-enough-seen",
}
CLASSES = {"client", "distance", "sessions", "contention", "log", "cache", "cpu", "none"}


def outcome(names, *found, kind="single", made=True, engine="mariadb", parts=(), **more):
    """A run with these causes, and (cause, confidence) of each finding."""
    diagnosis = {
        "findings": [{"cause": cause, "confidence": confidence} for cause, confidence in found],
        "parts": list(parts),
    } if found else None
    name = " + ".join(names) or "load"
    return {"kind": kind, "engine": engine, "name": name, "causes": list(names), "made": made,
            "holds": made, "proof": "seen", "error": None, "diagnosis": diagnosis,
            "experiments": None, **more}


class Causes(unittest.TestCase):
    def test_each_is_called_by_a_known_name(self):
        self.assertGreaterEqual(len(causes.CAUSES), 16)
        for cause in causes.CAUSES:
            self.assertLessEqual({*cause.called, *cause.true_too}, IDS, cause.name)
            self.assertFalse({*cause.called} & {*cause.true_too}, cause.name)
            self.assertLessEqual(set(cause.classes), CLASSES, cause.name)
            # Nothing that experiments vary is a limit of the server's or a stop of it.
            has_none = cause.name in ("connection-limit", "server-stops")
            self.assertEqual(not cause.classes, has_none, cause.name)
            self.assertLessEqual(set(cause.settings), set(ENGINES), cause.name)

    def test_each_has_a_proof(self):
        for cause in causes.CAUSES:
            self.assertTrue(cause.slower > 1 or cause.prove or cause.make is not making.as_asked,
                            cause.name)

    def test_doses_differ_and_the_middle_one_is_the_cause_itself(self):
        dosed = [cause for cause in causes.CAUSES if cause.doses]
        self.assertGreaterEqual(len(dosed), 12)
        for cause in dosed:
            weak, middle, strong = (cause.at(dose) for dose in causes.DOSES)
            same = dataclasses.replace(cause, doses=(), dose="middle")
            self.assertEqual(middle, same, cause.name)
            for other in (weak, strong):
                self.assertNotEqual(dataclasses.replace(other, dose="middle"), same, cause.name)
            self.assertNotEqual(dataclasses.replace(weak, dose=None),
                                dataclasses.replace(strong, dose=None), cause.name)
        always = causes.BY_NAME["one-session"]
        self.assertIs(always.at("weak"), always)

    def test_sessions_at_a_limit_leave_cpu_for_more(self):
        cause = causes.BY_NAME["connection-limit"]
        self.assertGreater(cause.each_way_ms, 0)
        self.assertGreater(cause.slower, 1)
        for dose in causes.DOSES:
            settings = " ".join(cause.at(dose).settings_of("postgres"))
            most = int(re.search(r"max_connections=(\d+)", settings)[1])
            # More sessions do at least so much more, if CPU is left for them.
            self.assertGreater(cause.load.sessions / most, cause.slower)
            run = type("Run", (), {"measured": type("M", (), {"sessions": [most]})})
            self.assertTrue(cause.at(dose).prove(run)[0])
            run.measured.sessions = [most + 2]
            self.assertFalse(cause.at(dose).prove(run)[0])

    def test_a_neighbour_of_a_healthy_run_takes_less_than_is_called_one(self):
        source = (ROOT / "crates/diagnosis/src/thresholds.rs").read_text()
        least = float(re.search(r"OTHERS_CORES: f64 = ([\d.]+)", source)[1])
        self.assertLess(pairs.NEIGHBOUR_CORES, least / 2)

    def test_a_host_is_full_as_diagnoses_have_it(self):
        source = (ROOT / "crates/diagnosis/src/thresholds.rs").read_text()
        self.assertEqual(making.CPU_FULL, float(re.search(r"CPU_FULL: f64 = ([\d.]+)", source)[1]))
        # Whether it is full between two stops, no list knows.
        self.assertEqual(causes.BY_NAME["server-stops"].true_too, ())

    def test_healthy_runs_have_bursts_upkeep_and_neighbours(self):
        names = " ".join(healthy.name for healthy in pairs.HEALTHY)
        for part in ("10% and 50% of capacity", "beside upkeep", "beside small neighbour"):
            self.assertIn(part, names)
        bursts = next(h for h in pairs.HEALTHY if len(h.shares) > 1)
        load = bursts.load_at(1000.0, 5)
        self.assertEqual(load.options, ("--rate=100,500,100,500,100", "--rate-hold=1s"))
        self.assertTrue(load.has_steps)

    def test_there_are_ten_pairs_of_different_causes_and_forty_healthy_runs(self):
        self.assertEqual(len({frozenset(pair.names) for pair in pairs.PAIRS}), 10)
        self.assertTrue(all(len(set(pair.names)) == 2 for pair in pairs.PAIRS))
        self.assertEqual(len(pairs.HEALTHY) * len(ENGINES), 40)
        self.assertEqual(len({healthy.name for healthy in pairs.HEALTHY}), len(pairs.HEALTHY))

    def test_causes_with_the_same_settings_follow_each_other(self):
        order = [c.settings_of("mariadb") for c in experiment.in_turn(causes.CAUSES)]
        changes = sum(one != other for one, other in zip(order, order[1:]))
        self.assertEqual(changes, len(set(order)) - 1)

    def test_a_counter_is_told_for_each_transaction(self):
        measured = type("Measured", (), {"count": 10})
        run = making.Run(measured, None, {"connections": 5.0}, {"connections": 15.0})
        self.assertEqual(making.reconnected(1)(run), (True, "1.00 connections a transaction"))
        run = making.Run(measured, None, {"sessions": 5.0}, {"sessions": 6.0})
        self.assertFalse(making.reconnected(1)(run)[0])
        self.assertTrue(making.reconnected(8)(run)[0])


class Figures(unittest.TestCase):
    def test_the_first_finding_decides(self):
        run = outcome(["slow-flush"], ("commit-log", "high"), ("server-cpu", "low"))
        self.assertTrue(figures.right(run))
        run = outcome(["slow-flush"], ("server-cpu", "low"), ("commit-log", "high"))
        self.assertFalse(figures.right(run))
        self.assertTrue(figures.names(run, causes.BY_NAME["slow-flush"]))

    def test_a_run_without_a_diagnosis_is_not_right(self):
        run = outcome(["slow-flush"])
        self.assertFalse(figures.right(run))
        self.assertEqual(figures.first(run), figures.NOTHING)
        self.assertEqual(figures.confident_and_wrong(run), [])

    def test_only_sure_findings_that_are_not_so_are_confident_and_wrong(self):
        run = outcome(["hot-row"], ("row-locks", "high"), ("commit-log", "high"),
                      ("latches", "medium"), ("network-distance", "high"))
        self.assertEqual(figures.confident_and_wrong(run), ["network-distance"])
        run = outcome([], ("server-cpu", "high"), kind="healthy")
        self.assertEqual(figures.confident_and_wrong(run), [])

    def test_a_full_cpu_between_stops_is_so_where_the_run_shows_it(self):
        told = ("server-stalls", "high"), ("server-cpu", "high")
        self.assertEqual(figures.confident_and_wrong(outcome(["server-stops"], *told)),
                         ["server-cpu"])
        shown = outcome(["server-stops"], *told, true_too=["server-cpu"])
        self.assertEqual(figures.confident_and_wrong(shown), [])

    def test_a_false_alarm_is_any_bottleneck_but_honest_ones(self):
        self.assertEqual(figures.false_alarms(outcome([], ("server-cpu", "high"))), [])
        self.assertEqual(figures.false_alarms(outcome([], ("offered-load", "high"),
                                                      ("latches", "low"))), ["latches"])
        self.assertEqual(figures.false_alarms(outcome([])), [])

    def test_a_run_in_which_the_cause_did_not_take_hold_counts_nowhere(self):
        runs = [outcome(["slow-flush"], ("commit-log", "high"), made=False),
                outcome(["slow-flush"], ("row-locks", "low"))]
        self.assertEqual(figures.matrix(runs), {"slow-flush": {"row-locks": 1}})
        text = report.singles(runs)
        self.assertIn("0 of 1", text)
        self.assertIn("missed", text)

    def test_a_sure_finding_is_wrong_also_where_the_cause_took_no_hold(self):
        runs = [outcome(["slow-flush"], ("row-locks", "high"), made=False)]
        self.assertIn("Confident and wrong: 1 of 1 runs, reach 0: missed", report.together(runs))

    def test_a_cause_by_another_of_its_names_is_told_apart(self):
        by_name = outcome(["server-quota"], ("cpu-quota", "high"))
        by_another = outcome(["server-quota"], ("server-cpu", "high"))
        self.assertTrue(figures.right(by_another))
        self.assertFalse(figures.exactly_right(by_another))
        self.assertIn("1 of 2 (50%)", report.singles([by_name, by_another]))

    def test_healthy_runs_that_say_nothing_meet_no_reach(self):
        self.assertIn("reach 0: missed; without a diagnosis: 1",
                      report.healthy([outcome([], kind="healthy")]))

    def test_a_cause_that_experiments_cannot_tell_is_not_judged_by_class(self):
        self.assertFalse(figures.has_class(outcome(["server-stops"])))
        self.assertTrue(figures.has_class(outcome(["slow-flush"])))

    def test_parts_are_added_up(self):
        part = {"type": None, "mean_ms": 2.0, "parts": [
            {"part": "network", "ms": 1.0}, {"part": "server-wait", "class": "log", "ms": 0.6},
            {"part": "unexplained", "ms": 0.1}]}
        (found,) = figures.sums(outcome(["slow-flush"], ("commit-log", "high"), parts=[part]))
        self.assertAlmostEqual(found.parts, 0.85)
        self.assertAlmostEqual(found.unexplained, 0.05)
        self.assertFalse(found.near)

    def test_what_was_measured_is_told_before_it_adds_up(self):
        def run(measured):
            parts = [{"part": "network", "ms": 2.0}]
            part = {"type": None, "mean_ms": 2.0, "measured_ms": measured, "parts": parts}
            return outcome(["slow-flush"], ("commit-log", "high"), parts=[part])

        text = report.together([run(2.1), run(1.0), run(3.0)])
        self.assertIn("within 10% of the mean in 1 of 3 (33%), less in 1 (the rest is unexplained), "
                      "more in 1", text)
        part = {"type": None, "mean_ms": 2.0, "parts": [{"part": "network", "ms": 2.0}]}
        old = outcome(["slow-flush"], ("commit-log", "high"), parts=[part])
        self.assertNotIn("What was measured", report.together([old]))

    def test_experiments_are_judged_by_class(self):
        run = outcome(["slow-flush"], experiments={"class": "log"})
        self.assertTrue(figures.class_right(run))
        run["experiments"] = {"class": "cpu"}
        self.assertFalse(figures.class_right(run))
        run["experiments"] = None
        self.assertFalse(figures.class_right(run))


class Report(unittest.TestCase):
    def test_the_matrix_has_right_names_in_bold(self):
        runs = [outcome(["slow-flush"], ("commit-log", "high")),
                outcome(["hot-row"], ("commit-log", "high")), outcome(["hot-row"])]
        lines = report.confusion(runs).splitlines()
        self.assertEqual([cell.strip() for cell in lines[0].split("|")[1:-1]],
                         ["made", "commit-log", figures.NOTHING])
        self.assertIn("**1**", next(line for line in lines if "slow-flush" in line))
        self.assertNotIn("**", next(line for line in lines if "hot-row" in line))

    def test_all_tables_are_printed_and_judged(self):
        pair = ["network-distance", "slow-flush"]
        runs = [
            outcome(["slow-flush"], ("commit-log", "high")),
            outcome(pair, ("commit-log", "high"), ("network-distance", "low"), kind="pair"),
            outcome([], ("latches", "high"), kind="healthy"),
            outcome(["hot-row"], made=False, error="it failed\nat length"),
        ]
        text = report.all_of(runs)
        self.assertIn("Both named: 1 of 1 (100%), reach 80%: met (both with more than low "
                      "confidence: 0)", text)
        self.assertIn("reach 0: missed", text)
        self.assertIn("mariadb, load: latches", text)
        self.assertIn("failed: mariadb, hot-row: it failed", text)
        self.assertIn("No run tells the parts of its latency.", text)

    def test_with_experiments_only_classes_are_printed(self):
        text = report.all_of([outcome(["slow-flush"], experiments={"class": "log"})])
        self.assertIn("Right class with nothing observed: 1 of 1 (100%), reach 80%: met", text)

    def test_classes_found_are_a_matrix(self):
        runs = [outcome(["slow-flush"], experiments={"class": "log"}),
                outcome(["hot-row"], experiments={"class": "log"}),
                outcome(["tiny-cache"], made=False, experiments={"class": "cpu"})]
        text = report.all_of(runs)
        cells = {row.split("|")[1].strip(): [cell.strip() for cell in row.split("|")[2:-1]]
                 for row in text.splitlines() if row.startswith("|")}
        self.assertEqual(cells["made"], ["class", "log"])
        self.assertEqual(cells["slow-flush"], ["log", "**1**"])
        self.assertEqual(cells["hot-row"], ["contention", "1"])
        self.assertNotIn("tiny-cache", cells)
        self.assertIn("not made: mariadb, tiny-cache", text)

    def test_a_matrix_says_what_it_stands_on_and_which_classes_it_lacks(self):
        of = len(causes.CAUSES)
        runs = [outcome(["slow-flush"], experiments={"class": "log"}),
                outcome(["slow-flush"], experiments=None, asked="experiments"),
                outcome(["hot-row"], experiments={"class": "log"}, engine="postgres")]
        text = report.all_of(runs)
        self.assertIn("1 of 3 (33%)", text)
        self.assertIn(f"Runs: 3, of 2 of {of} causes on mariadb, postgres, 1 to 2 of each on each.",
                      text)
        self.assertIn("Classes that no run made: client, distance, sessions, cache, cpu.", text)
        self.assertNotIn("first finding", text)
        self.assertEqual(report.stands_on([]), "It stands on no run.")
        text = report.singles([outcome(["slow-flush"], ("commit-log", "high"))])
        self.assertIn(f"Runs: 1, of 1 of {of} causes on mariadb, 1 of each on each.", text)

    def test_runs_and_experiments_that_are_kept_together_are_told_apart(self):
        runs = [outcome(["slow-flush"], experiments={"class": "log"}),
                outcome(["hot-row"], ("row-locks", "high"))]
        text = report.all_of(runs)
        self.assertIn("Right class with nothing observed: 1 of 1 (100%)", text)
        self.assertIn("First finding right: 1 of 1 (100%)", text)
        self.assertIn("Confident and wrong: 0 of 1 runs", text)

    def test_doses_are_told_apart(self):
        runs = [outcome(["slow-flush"], ("commit-log", "high"), dose="weak"),
                outcome(["slow-flush"], ("server-cpu", "low"), dose="weak"),
                outcome(["slow-flush"], ("commit-log", "high"), dose="strong")]
        self.assertIn("By dose: weak 1 of 2 (50%); strong 1 of 1 (100%).", report.singles(runs))


class Options(unittest.TestCase):
    def plan(self, *words):
        return command.Plan(command.parser().parse_args(words))

    def test_everything_is_made_five_times(self):
        plan = self.plan()
        self.assertEqual((plan.repeats, len(plan.pairs), len(plan.healthy)), (5, 10, 20))
        self.assertEqual(plan.causes, causes.CAUSES)
        made = plan.made([causes.BY_NAME["slow-flush"], causes.BY_NAME["one-session"]])
        self.assertEqual([cause.dose for cause in made],
                         ["middle", "weak", "strong", "middle", "weak"] + [None] * 5)

    def test_experiments_are_made_of_causes_that_they_can_tell(self):
        plan = self.plan("--diagnose", "--budget=90")
        self.assertEqual((plan.repeats, plan.budget_s, plan.pairs), (1, 90, []))
        self.assertTrue(plan.causes and all(cause.classes for cause in plan.causes))
        self.assertEqual({c.dose for c in plan.made(plan.causes)}, {"middle", None})

    def test_a_run_on_a_full_disk_is_longer(self):
        disk = causes.BY_NAME["disk-rate"]
        self.assertGreaterEqual(self.plan().least(disk), 10)
        self.assertEqual(self.plan("--smoke").least(disk), 0)

    def test_only_some_causes_bring_nothing_else(self):
        plan = self.plan("--only=hot-row,latches", "--repeats=2")
        self.assertEqual([c.name for c in plan.causes], ["hot-row", "latches"])
        self.assertEqual((plan.repeats, plan.pairs, plan.healthy), (2, [], []))
        self.assertEqual(len(self.plan("--only=hot-row", "--healthy=4").healthy), 2)

    def test_ten_minutes_are_enough_for_each_class_once(self):
        command_line = next(line for line in (ROOT / "bench/README.md").read_text().splitlines()
                            if line.startswith("bench/bottlenecks --diagnose --cases="))
        plan = self.plan(*command_line.partition("#")[0].split()[1:])
        self.assertEqual({name for c in plan.causes for name in c.classes}, set(figures.CLASSES))
        runs = len(plan.made(plan.causes)) * len(plan.engines)
        self.assertLess(runs * (plan.budget_s + plan.seconds + plan.baseline_s + 10), 540)

    def test_a_smoke_test_is_small(self):
        plan = self.plan("--smoke")
        self.assertEqual([c.name for c in plan.causes], list(command.SMOKE))
        self.assertEqual((plan.repeats, plan.seconds, plan.healthy), (1, 1, []))


class Kept(unittest.TestCase):
    def test_runs_are_added_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            kept = experiment.Kept(folder)
            for name in ("one", "two"):
                (folder / "record.json").write_text(name)
                kept.add({"name": name}, folder / "record.json")
            again = experiment.Kept(folder)
            self.assertEqual([(o["name"], o["number"]) for o in again.read()],
                             [("one", 0), ("two", 1)])
            self.assertEqual((folder / "records/0001.json").read_text(), "two")


class FakeServer:
    """A server without tables."""

    engine, driver = "postgres", "pgsql"

    def __init__(self):
        self.asked = []

    def with_settings(self, settings):
        self.asked.append(tuple(settings))

    def url_of(self, database, port=None):
        return f"postgres://u@h:{port or 1}/{database}"

    def sql(self, text, database="sbtest"):
        return []

    def counters(self):
        return {"sessions": 0.0}


class FakeClient:
    """A client whose runs do as many transactions as `speed` says of their target."""

    def __init__(self, folder, speed):
        self.record, self.speed, self.loads = folder / "record.json", speed, []

    def run(self, load, url, seconds, group=None):
        self.loads.append(load)
        rate = self.speed(load, url)
        return type("Measured", (), {
            "id": "a-run", "count": int(rate), "elapsed_s": 1.0, "per_second": rate, "mean_ms": 5.0,
            "least_ms": 4.5, "most_ms": 6.0, "response_ms": 5.0, "sessions": [8]})

    def diagnosis(self, run):
        return {"verdict": "network-distance", "findings": []}


class FakeStops:
    """Stops between which the processors were so busy."""

    count = 3

    def __init__(self, busy):
        self.busy = busy

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


class Experiments(unittest.TestCase):
    def made(self, speed, what):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            client = FakeClient(folder, speed)
            disk = SlowDisk(folder)
            made = experiment.Experiment(FakeServer(), client, disk, None, experiment.Kept(folder),
                                         self.plan(), lambda _: None)
            return what(made), made

    def plan(self):
        return command.Plan(command.parser().parse_args(["--smoke"]))

    @staticmethod
    def cause(name, prove=lambda _: (True, "seen"), settings=()):
        load = Load("oltp_point_select", Tables("sbtest", 1, 10), 8, ("--made",))
        return dataclasses.replace(
            causes.BY_NAME[name], load=load, healthy=pairs.HEALTHY[0].load, slower=2.0, prove=prove,
            make=making.as_asked, settings={"postgres": settings}, disk=(), least_s=0, doses=())

    @staticmethod
    def slow(load, _):
        return 100.0 if "--made" in load.options else 300.0

    def single(self, cause):
        return lambda e: e.made("single", cause.name, [cause], cause.load, cause.healthy,
                                cause.slower)

    def test_a_cause_is_compared_with_the_load_without_it(self):
        found, made = self.made(self.slow, self.single(
            self.cause("tiny-cache", settings=("shared_buffers=2MB",))))
        self.assertTrue(found["made"])
        self.assertEqual(found["slower"], 3.0)
        self.assertEqual(made.server.asked, [(), ("shared_buffers=2MB",)])
        self.assertEqual(figures.first(found), "network-distance")

    def test_a_cause_that_does_not_show_is_not_made(self):
        found, _ = self.made(lambda *_: 300.0, self.single(self.cause("tiny-cache")))
        self.assertFalse(found["made"])
        self.assertTrue(found["holds"])
        found, _ = self.made(self.slow, self.single(
            self.cause("tiny-cache", prove=lambda _: (False, "nothing"))))
        self.assertFalse(found["made"])

    def test_of_two_causes_both_have_to_hold(self):
        two = [self.cause("tiny-cache", settings=("a=1",)),
               self.cause("hot-row", prove=lambda _: (False, "no waits"), settings=("b=2",))]
        found, made = self.made(self.slow, lambda e: e.made(
            "pair", "tiny-cache + hot-row", two, two[0].load, two[0].healthy, 1.3))
        self.assertFalse(found["made"])
        self.assertEqual(found["proof"], "seen; no waits; 3.0 times slower")
        self.assertEqual(made.server.asked[-1], ("a=1", "b=2"))

    def test_what_else_is_true_is_asked_of_the_run(self):
        @contextlib.contextmanager
        def make(_):
            yield making.Made(true_too=lambda: ("server-cpu",))

        found, _ = self.made(self.slow, self.single(
            dataclasses.replace(self.cause("tiny-cache"), make=make)))
        self.assertEqual(found["true_too"], ["server-cpu"])
        found, _ = self.made(self.slow, self.single(self.cause("tiny-cache")))
        self.assertEqual(found["true_too"], [])

    def test_the_cpu_limits_between_stops_where_it_is_full_then(self):
        for busy, told in ([0.99, 0.2, 0.97], ("server-cpu",)), ([0.4, 0.95, 0.3], ()), ([], ()):
            with mock.patch.object(making, "Stops", lambda *_, busy=busy: FakeStops(busy)), \
                    making.stopped(0.3)(mock.Mock()) as made:
                self.assertEqual(made.true_too(), told)

    def test_a_healthy_run_on_a_schedule_has_a_share_of_what_was_measured(self):
        healthy = next(h for h in pairs.HEALTHY if h.scheduled)
        (found,), made = self.made(lambda *_: 300.0, lambda e: list(e.healthy(healthy)))
        self.assertTrue(found["made"])
        self.assertEqual(healthy.shares, (pairs.STEADY,))
        self.assertIn("--rate=90", made.client.loads[-1].options)
        self.assertEqual(figures.false_alarms(found), ["network-distance"])
        _, made = self.made(lambda *_: 300.0, lambda e: list(e.healthy(pairs.HEALTHY[0])))
        self.assertEqual(made.server.asked, [pairs.NO_WAIT["postgres"]])

    def test_a_run_with_deadlocks_is_not_healthy_and_is_made_again(self):
        def all_of(e):
            counts = iter([0.0, 2.0, 2.0, 2.0])
            e.server.counters = lambda: {"deadlocks": next(counts)}
            return list(e.healthy(pairs.HEALTHY[0]))

        (locked, found), _ = self.made(lambda *_: 300.0, all_of)
        self.assertEqual((locked["made"], locked["proof"]), (False, "2 deadlocks"))
        self.assertTrue(found["made"])
        text = report.healthy([locked, found])
        self.assertIn("1 of 1", text)
        self.assertIn("failed: 0; with deadlocks, and repeated: 1.", text)

    def test_a_run_that_fails_is_kept_as_failed(self):
        def fail(load, _):
            if "--made" in load.options:
                raise BenchError("it ended with 1")
            return 300.0

        found, _ = self.made(fail, self.single(self.cause("tiny-cache")))
        self.assertEqual((found["made"], found["error"]), (False, "it ended with 1"))


class Loads(unittest.TestCase):
    def test_words_are_those_of_the_command(self):
        load = Load("oltp_insert", Tables("large", 2, 30), 4, ("--force=on",))
        self.assertEqual(load.with_options("--rate=5").words("mysql://h/large", "run"), [
            "sysbench", "oltp_insert", "--target=mysql://h/large", "--tables=2", "--table-size=30",
            "--threads=4", "--force=on", "--rate=5", "run"])

    def test_a_database_is_reached_through_a_proxy(self):
        server = Server("postgres", "/nowhere", None, None, None)
        server.url = "postgres://u:p@127.0.0.1:5000/sbtest"
        server.target = type("Target", (), {"port": 5000})
        self.assertEqual(server.url_of("large"), "postgres://u:p@127.0.0.1:5000/large")
        self.assertEqual(server.url_of("large", 6000), "postgres://u:p@127.0.0.1:6000/large")


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


class Limits(unittest.TestCase):
    def setUp(self):
        command = [sys.executable, "-c", "while True: pass"]
        self.process = subprocess.Popen(command)
        self.addCleanup(self.process.wait)
        self.addCleanup(self.process.kill)

    def test_stops_end_with_the_process_running(self):
        with limits.Stops(lambda: [self.process.pid], 0.1, 0.05) as stops:
            end = time.monotonic() + 30
            while stops.count < 2 and time.monotonic() < end:
                time.sleep(0.01)
        self.assertGreaterEqual(stops.count, 2)
        self.assertGreaterEqual(len(stops.busy), 2)
        self.assertGreaterEqual(min(stops.busy), 0)
        self.assertNotEqual(state_of(self.process.pid), "T")

    def test_a_limit_throttles_and_is_undone(self):
        limit = limits.CpuLimit(0.1)
        with limit.of(lambda: [self.process.pid]):
            group = limit.group and limit.group.path
            end = time.monotonic() + 30
            while limit.throttled() < 3 and time.monotonic() < end:
                time.sleep(0.01)
        self.assertGreaterEqual(limit.throttled(), 3)
        self.assertNotEqual(state_of(self.process.pid), "T")
        self.assertFalse(group and group.exists())

    def test_without_control_groups_a_duty_cycle_limits(self):
        limit = limits.CpuLimit(0.1)
        homes = limits.Cgroup.homes
        limits.Cgroup.homes = lambda self: iter(())
        self.addCleanup(setattr, limits.Cgroup, "homes", homes)
        with limit.of(lambda: [self.process.pid]):
            self.assertIsNone(limit.group)
            end = time.monotonic() + 30
            while limit.throttled() < 3 and time.monotonic() < end:
                time.sleep(0.01)
        self.assertGreaterEqual(limit.throttled(), 3)
        self.assertNotEqual(state_of(self.process.pid), "T")

    def test_a_small_neighbour_takes_a_part_of_a_processor(self):
        with limits.Spinners(1, 0.1) as small:
            end = time.monotonic() + 30
            while small.cpu_seconds() < 0.1 and time.monotonic() < end:
                time.sleep(0.01)
            used, since = small.cpu_seconds(), time.monotonic()
            time.sleep(1)
            part = (small.cpu_seconds() - used) / (time.monotonic() - since)
        self.assertGreater(used, 0)
        self.assertLess(part, 0.5)

    def test_a_signal_to_an_ended_process_reaches_nobody(self):
        self.process.kill()
        self.process.wait()
        self.assertEqual(limits.signalled([self.process.pid], signal.SIGCONT), [])


class Disk(unittest.TestCase):
    PROGRAM = ("import os, time; f = os.open(os.environ['HOME_FILE'], os.O_RDWR | os.O_CREAT); "
               "os.pwrite(f, bytes(8192), 0); s = time.monotonic(); os.fsync(f); "
               "a = time.monotonic(); [os.pread(f, 8192, 0) for _ in range(5)]; "
               "print(a - s, time.monotonic() - a)")

    def times(self, disk, folder):
        env = {**os.environ, **disk.environment(), "HOME_FILE": str(pathlib.Path(folder, "f"))}
        done = subprocess.run([sys.executable, "-c", self.PROGRAM], env=env, capture_output=True,
                              text=True, check=True)
        return [float(word) for word in done.stdout.split()]

    def test_a_preloaded_program_waits_as_asked_and_no_longer(self):
        with tempfile.TemporaryDirectory() as folder:
            disk = SlowDisk(folder)
            self.times(disk, folder)
            self.assertEqual(disk.counted()["waited_ns"], 0)
            with disk.slowed(flush_ns=40_000_000, slot_ns=20_000_000):
                flush_s, reads_s = self.times(disk, folder)
            self.assertGreaterEqual(flush_s, 0.04)
            # Python itself may have read as much at once before.
            self.assertGreaterEqual(reads_s, 0.08)
            self.assertGreaterEqual(disk.counted()["flushes"], 1)
            waited = disk.counted()["waited_ns"]
            self.times(disk, folder)
            self.assertEqual(disk.counted()["waited_ns"], waited)

    def test_what_was_asked_before_is_asked_again(self):
        with tempfile.TemporaryDirectory() as folder:
            disk = SlowDisk(folder)
            with disk.slowed(write_ns=5, uncached=1):
                with disk.slowed(write_ns=7):
                    self.assertEqual(disk.counted()["write_ns"], 7)
                self.assertEqual(disk.counted()["write_ns"], 5)
            self.assertEqual(disk.counted()["write_ns"], 0)

    def test_the_library_and_the_script_agree_on_the_order(self):
        source = (ROOT / "bench/bottleneck_lab/slow_disk.c").read_text()
        struct = source[source.index("struct control {"):source.index("};")]
        struct = re.sub(r"/\*.*?\*/", "", struct, flags=re.S)
        order = [struct.index(name) for name in FIELDS]
        self.assertEqual(order, sorted(order))


if __name__ == "__main__":
    unittest.main()
