"""pgbench: what is computed, judged and asked. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from pgbench_costs import bench, command, report
from vs_sysbench.clients import PGBENCH, TIDEMARK
from vs_sysbench.figures import Sample
from vs_sysbench.report import replace_block


def sample(cpu_us, rate):
    return Sample(1000, rate, cpu_us / 1e3, 0.0, 1 << 20, 10.0)


class Table(unittest.TestCase):
    def found(self, ours, theirs):
        found = bench.Found("PostgreSQL 15")
        found.runs[("select-only", 16)] = {TIDEMARK: [ours], PGBENCH: [theirs]}
        return found

    def test_cpu_and_throughput_are_judged(self):
        text = report.figures_table(self.found(sample(8, 100.0), sample(10, 101.0)))
        self.assertIn("0.800", text)
        self.assertIn("met", text)
        self.assertIn("missed", text)

    def test_a_pair_is_told_in_one_line(self):
        runs = self.found(sample(8, 100.0), sample(10, 101.0)).runs[("select-only", 16)]
        line = report.pair_line("select-only", 16, runs)
        self.assertIn("16 clients", line)
        self.assertIn("101/s", line)

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


class CommandLine(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        plan = command.Plan(command.parser().parse_args(["--smoke"]))
        self.assertEqual((plan.pairs, plan.seconds, plan.clients), (1, 1, [4]))
        plan = command.Plan(command.parser().parse_args([]))
        self.assertEqual((plan.pairs, plan.clients, plan.scale), (5, [16, 64, 256], 10))

    def test_the_script_says_what_it_does(self):
        said = subprocess.run([ROOT / "bench/pgbench", "--help"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0)
        self.assertIn("pgbench", said.stdout)


if __name__ == "__main__":
    unittest.main()
