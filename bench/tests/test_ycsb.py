"""YCSB: what is computed, judged and asked. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from vs_sysbench.clients import BARE, TIDEMARK
from vs_sysbench.figures import Sample
from vs_sysbench.report import replace_block
from ycsb_costs import bench, command, report


def sample(cpu_us):
    return Sample(1000, 100.0, cpu_us / 1e3, 0.0, 1 << 20, 10.0)


class Table(unittest.TestCase):
    def found(self, ours, theirs):
        found = bench.Found("mysql", "MariaDB 1")
        found.runs = {TIDEMARK: [sample(c) for c in ours], BARE: [sample(c) for c in theirs]}
        return found

    def test_the_median_of_pairs_is_judged(self):
        text = report.figures_table([self.found([12, 13, 30], [10, 10, 20])])
        self.assertIn("1.300 (1.200–1.500)", text)
        self.assertIn("met", text)
        text = report.figures_table([self.found([14], [10])])
        self.assertIn("missed", text)

    def test_a_pair_is_told_in_one_line(self):
        line = report.pair_line(self.found([12], [10]))
        self.assertIn("Tidemark 12.0 µs (12.0 µs), 100/s | bare loop 10.0 µs", line)

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


class CommandLine(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        plan = command.Plan(command.parser().parse_args(["--smoke"]))
        self.assertEqual((plan.pairs, plan.seconds, plan.records), (1, 1, 500))
        plan = command.Plan(command.parser().parse_args(["--threads=3"]))
        self.assertEqual((plan.pairs, plan.threads, plan.records), (5, 3, 100_000))

    def test_the_script_says_what_it_does(self):
        said = subprocess.run([ROOT / "bench/ycsb", "--help"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0)
        self.assertIn("workload", said.stdout)


if __name__ == "__main__":
    unittest.main()
