"""What observing costs: what is computed, judged and asked.
Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import sqlite3
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from observe_costs import bench, command, report
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
        cost = bench.Cost("MariaDB 1", 300, 0.004, 0.02, 150, 90_000, 700_000)
        text = report.costs_table([cost])
        self.assertIn("1.40 MB (150 series", text)
        self.assertIn("0.40% of a core", text)
        self.assertEqual(text.count("| met"), 2)


class Store(unittest.TestCase):
    def test_means_are_weighted_by_points(self):
        db = sqlite3.connect(":memory:")
        db.execute("CREATE TABLE series (source, name, labels, points, mean)")
        rows = [(300, 0.001), (100, 0.005)]
        for points, mean in rows:
            db.execute("INSERT INTO series VALUES ('s', 'n', '{\"threads\":\"observing\"}', ?, ?)",
                       (points, mean))
        self.assertAlmostEqual(bench.mean(db, "s", "n", "observing"), 0.002)
        with self.assertRaises(BenchError):
            bench.mean(db, "s", "other", "")


class Plan(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        plan = command.Plan(command.parser().parse_args(["--smoke"]))
        self.assertEqual((plan.pairs, plan.seconds, plan.long_seconds), (1, 1, 3))
        plan = command.Plan(command.parser().parse_args([]))
        self.assertEqual((plan.pairs, plan.long_seconds), (20, 600))


if __name__ == "__main__":
    unittest.main()
