"""TPC-H: what is computed and judged. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tpch_costs import bench, command, report
from vs_sysbench.clients import TIDEMARK
from vs_sysbench.figures import Sample
from vs_sysbench.report import replace_block


def plan(*words):
    return command.Plan(command.parser().parse_args(words))


def found(driver, ours, theirs, rss=60 << 20):
    one = bench.Found(driver, "the server")
    one.loads[TIDEMARK] = [Sample(1, 1 / s, 0.0, 0.0, rss, s) for s in ours]
    one.loads["native"] = [Sample(1, 1 / s, 0.0, 0.0, 0, s) for s in theirs]
    return one


class Table(unittest.TestCase):
    def rows(self, *args, **more):
        return report.figures_table([found(*args, **more)], plan()).splitlines()[2:]

    def test_times_are_judged_by_the_median_of_pairs(self):
        for ours, word in (([11.9, 13.0, 11.0], "met"), ([12.1, 13.0, 11.0], "missed")):
            time = self.rows("pgsql", ours, [10.0, 10.0, 10.0])[0]
            self.assertIn(word, time)
            self.assertIn("psql", time)

    def test_memory_is_judged(self):
        for rss, word in ((64 << 20, "met"), ((64 << 20) + 1, "missed")):
            self.assertIn(word, self.rows("mysql", [1.0], [1.0], rss=rss)[1])


class Readme(unittest.TestCase):
    def test_it_has_a_place_for_the_table(self):
        text = (pathlib.Path(__file__).resolve().parents[1] / "README.md").read_text()
        self.assertIn("new", replace_block(text, "new", report.BEGIN, report.END))


class Plan(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        self.assertEqual((plan("--smoke").scale, plan("--smoke").pairs), (0.01, 1))
        self.assertEqual((plan().scale, plan().pairs, plan().threads), (1, 3, 4))
        self.assertEqual(plan("--scale=0.1").scale, 0.1)


if __name__ == "__main__":
    unittest.main()
