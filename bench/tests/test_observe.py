"""What observing costs: what is computed, judged and asked.
Run: python3 -m unittest discover -s bench/tests"""

import argparse
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from observe_costs import bench, command, report, sizes, totals
from observe_costs.report import OFF, ON
from vs_sysbench.errors import BenchError


class Table(unittest.TestCase):
    def found(self, on, off):
        found = bench.Found("MariaDB 1", "tpcc")
        found.runs = {ON: on, OFF: off}
        return found

    def test_the_median_and_its_lower_bound_are_judged(self):
        text = report.figures_table([self.found([990] * 8, [1000] * 8)])
        self.assertIn("0.990 (0.990–0.990)", text)
        self.assertIn("| met", text)
        # The median would do; the interval begins too low.
        wide = [900, 900, 900, 1000, 1000, 1000, 1000, 1000]
        text = report.figures_table([self.found(wide, [1000] * 8)])
        self.assertNotIn("| met", text)

    def test_a_shorter_records_size_is_told_for_ten_minutes(self):
        parts = {"intervals": 500_000, "series of client-host": 60_000, "job": 2_000}
        cost = bench.Cost("MariaDB 1", 300, 0.004, 0.02, 150, 90_000, 700_000, parts, 600_000)
        text = report.costs_table([cost])
        # Only what is of the time grows with it.
        self.assertIn("1.30 MB (150 series", text)
        self.assertIn("record of ten minutes, extrapolated from 300 s", text)
        self.assertIn("0.40% of a core", text)
        self.assertEqual(text.count("| met"), 2)
        whole = bench.Cost("MariaDB 1", 600, 0.004, 0.02, 150, 90_000, 700_000, parts, 600_000)
        text = report.costs_table([whole])
        self.assertIn("0.70 MB (150 series", text)
        self.assertNotIn("extrapolated", text)

    def test_the_largest_part_of_a_record_comes_first(self):
        parts = {"job": 2_000, "intervals": 500_000, "series of client-host": 60_000}
        cost = bench.Cost("MariaDB 1", 300, 0.004, 0.02, 150, 90_000, 1_000_000, parts, 600_000)
        lines = report.parts_table([cost]).splitlines()
        self.assertIn("intervals", lines[2])
        self.assertIn("500,000", lines[2])
        self.assertIn("50.0%", lines[2])
        self.assertIn("series of client-host", lines[3])
        self.assertEqual(lines[4].split()[3:7], ["|", "job", "|", "2,000"])
        # What is below one percent stands together.
        cost.parts["options"] = 3_000
        lines = report.parts_table([cost]).splitlines()
        self.assertEqual(lines[4].split()[4:8], ["2", "others", "|", "5,000"])
        self.assertEqual(len(lines), 5)

    def test_figures_that_are_too_far_apart_are_missed(self):
        compared = [
            totals.Compared("S", "CPU", 9.6, 10.0, apart=0.04),
            totals.Compared("S", "sessions", 9.4, 10.0, apart=0.06),
            totals.Compared("S", "share", 0.25, 0.2, unit="%", apart=0.05),
            totals.Compared("S", "waits", why="the server does not count it"),
        ]
        met, missed, share, unknown = report.compared_table(compared).splitlines()[2:]
        self.assertIn("| met", met)
        self.assertIn("9.60 s", met)
        self.assertIn("| missed", missed)
        self.assertIn("25.0%", share)
        self.assertIn("does not count", unknown)
        self.assertNotIn("met", unknown)
        self.assertIn("apart 4.0%", report.compared_line(compared[0]))

    def test_what_is_left_of_a_full_host_is_told(self):
        share = bench.Share("S", "oltp_read_write", 0.006, 0.01, 2)
        text = report.shares_table([share])
        for said in ("`oltp_read_write`", "0.60%", "1.00%", "0.80% of 2 cores"):
            self.assertIn(said, text)
        self.assertIn("0.80% of the host", report.share_line(share))

    def test_shares_are_held_against_the_whole(self):
        near = totals._times("S", "time of sessions at work", 90.0, 100.0, whole=1_000.0)
        far = totals._times("S", "time of sessions at work", 40.0, 100.0, whole=1_000.0)
        near, far = report.compared_table([near, far]).splitlines()[2:]
        self.assertIn("| 10.0% ", near)
        self.assertIn("| 1.0% ", near)
        self.assertIn("| met", near)
        self.assertIn("| missed", far)


class Pairs(unittest.TestCase):
    def test_a_machine_that_grows_slower_favours_neither_kind(self):
        server = bench.Server.__new__(bench.Server)
        server.plan = argparse.Namespace(pairs=3)
        server.name, server.say = "MariaDB 1", lambda line: None
        done = []

        def slower(what, workload):
            done.append(what)
            return 1000.0 - 10 * len(done)

        server._run = slower
        found = server.pairs("tpcc")
        self.assertEqual(found.runs[ON], found.runs[OFF])
        # The first is there to warm the caches.
        self.assertEqual(done[:5], [OFF, ON, OFF, OFF, ON])
        self.assertEqual(done[5:9], [OFF, ON, ON, OFF])


class Store(unittest.TestCase):
    def test_means_are_weighted_by_points(self):
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE series (source, name, labels, points, mean)")
        rows = [(300, 0.001), (100, 0.005)]
        for points, mean in rows:
            db.execute("INSERT INTO series VALUES ('s', 'n', '{\"threads\":\"observing\"}', ?, ?)",
                       (points, mean))
        self.assertAlmostEqual(bench.mean(db, "s", "n", "observing"), 0.002)
        for source, name, label, cores in (
            ("client-host", "threads.cpu", "observing", 0.004),
            ("client-host", "threads.cpu", "load", 0.9),
            ("server-process", "process.cpu-observing", "", 0.007),
        ):
            labels = json.dumps({"threads": label})
            db.execute("INSERT INTO series VALUES (?, ?, ?, 60, ?)", (source, name, labels, cores))
        self.assertEqual(bench.observing_cores(db), (0.004, 0.007))
        with self.assertRaises(BenchError):
            bench.mean(db, "s", "other", "")


class Sizes(unittest.TestCase):
    def test_every_byte_is_of_a_part_and_what_grows_is_told(self):
        record = {
            "id": "1",
            "intervals": [{"start_ms": 0, "types": {"a": {"count": 1}}}, {"start_ms": 1}],
            "series": [
                {"source": "network", "name": "rtt", "count": 2, "values": "abcd", "gaps": "ef"},
                {"source": "network", "name": "ping", "count": 2, "values": "gh"},
                {"source": "client-host", "name": "cpu", "count": 2, "values": "ij"},
            ],
        }
        text = json.dumps(record, indent=2) + "\n"
        found = sizes.sizes_of(text)
        self.assertGreater(found.parts["series of network"], found.parts["series of client-host"])
        self.assertGreater(found.parts[sizes.BLANKS], 100)
        # Beside the parts there are keys, commas and brackets.
        self.assertLess(len(text) - sum(found.parts.values()), 60)
        alone = json.dumps({"intervals": record["intervals"]}, indent=2)
        self.assertEqual(found.growing, len(alone) - len("{\n\n}") + len("abcdefghij"))

    def test_a_record_without_intervals_has_none(self):
        self.assertEqual(sizes.sizes_of('{\n  "id": "1"\n}\n').growing, 0)


class Totals(unittest.TestCase):
    def stat(self, *ticks):
        return f"7 (a b) c) S 1 7 7 0 -1 4194560 1 2 3 4 {' '.join(map(str, ticks))} 20 0 1 0 5"

    def test_a_servers_cpu_is_its_processes_and_those_that_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            proc = pathlib.Path(folder)
            for pid, ticks in ((7, (100, 20, 30, 4)), (8, (40, 6, 0, 0))):
                (proc / str(pid)).mkdir()
                (proc / str(pid) / "stat").write_text(self.stat(*ticks))
            (proc / "7/task/7").mkdir(parents=True)
            # The last has ended meanwhile.
            (proc / "7/task/7/children").write_text("8 9 ")
            hertz = totals.os.sysconf("SC_CLK_TCK")
            self.assertEqual(totals.cpu_of(7, proc), 200 / hertz)

    def test_the_servers_process_is_found_by_a_task(self):
        with tempfile.TemporaryDirectory() as folder:
            proc = pathlib.Path(folder)
            (proc / "12").mkdir()
            (proc / "12/status").write_text("Name:\tx\nTgid:\t11\nPid:\t12\nPPid:\t7\n")
            self.assertEqual(totals.process_of(12, "mysql", proc), 11)
            self.assertEqual(totals.process_of(12, "pgsql", proc), 7)

    def store(self, rows):
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE series (source, name, labels, points, mean)")
        db.executemany("INSERT INTO series VALUES (?, ?, ?, ?, ?)", rows)
        return db

    def test_sampled_sums_are_compared_with_what_grew(self):
        db = self.store([
            ("server-process", "process.cpu-user", "{}", 300, 0.5),
            ("server-process", "process.cpu-user", "{}", 100, 0.9),
            ("server-process", "process.cpu-system", "{}", 400, 0.3),
            ("server-process", "process.cpu-observing", "{}", 400, 0.1),
            ("server-activity", "sessions", '{"state": "active", "wait": "CPU"}', 400, 3.0),
            # First seen when half of the run was over.
            ("server-activity", "sessions", '{"state": "active", "wait": "IO:X"}', 200, 2.0),
            ("server-activity", "sessions", '{"state": "idle"}', 400, 9.0),
            ("server-statements", "waits.time", '{"event": "io/file/a"}', 400, 300.0),
            ("server-statements", "waits.time", '{"event": "io/file/b"}', 400, 100.0),
        ])
        before = totals.Totals(10.0, 100.0, None, {"wait/io/file/a": 5.0})
        waits = {"wait/io/file/a": 75.0, "wait/io/file/b": 30.0, "wait/other": 500.0}
        after = totals.Totals(410.0, 1800.0, None, waits)
        found = totals.compare("S", before, after, db, 400)
        cpu, active, share = found
        # (0.6 + 0.3 + 0.1) cores, (3 + 1) sessions.
        self.assertAlmostEqual(cpu.sampled, 400.0)
        self.assertAlmostEqual(cpu.apart, 0.0)
        self.assertAlmostEqual(active.sampled, 1600.0)
        self.assertAlmostEqual(active.total, 1700.0)
        self.assertAlmostEqual(active.apart, 100 / 1700)
        # Three quarters of the waits that were sampled, and 70 of 100 seconds.
        self.assertAlmostEqual(share.apart, 0.05)
        self.assertAlmostEqual({0.75: 0.7, 0.25: 0.3}[share.sampled], share.total)

    def test_what_is_not_counted_or_too_little_is_said(self):
        db = self.store([
            ("server-process", "process.cpu-user", "{}", 3, 0.01),
            ("server-activity", "sessions", '{"state": "idle"}', 3, 9.0),
        ])
        found = totals.compare("S", totals.Totals(1.0), totals.Totals(1.1), db, 3)
        self.assertEqual([one.apart for one in found], [None, None])
        self.assertIn("less than", found[0].why)
        self.assertIn("does not count", found[1].why)
        # Nothing was sampled.
        self.assertEqual(totals.sums(self.store([]), "server-process", "x"), [])


class Plan(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        plan = command.Plan(command.parser().parse_args(["--smoke"]))
        self.assertEqual((plan.pairs, plan.seconds, plan.long_seconds), (1, 1, 3))
        self.assertEqual(plan.totals_seconds, 3)
        plan = command.Plan(command.parser().parse_args([]))
        self.assertEqual((plan.pairs, plan.long_seconds), (20, 600))


if __name__ == "__main__":
    unittest.main()
