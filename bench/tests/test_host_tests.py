"""Tests of the machine: what is read, judged and asked. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from host_tests import command, report
from host_tests.bench import SYSBENCH, TIDEMARK, Case, cases, figure
from vs_sysbench.errors import BenchError
from vs_sysbench.report import replace_block

FILES = """
Throughput:
    read, MiB/s:                  11.10
    written, MiB/s:               6.66

General statistics:
    total time:                          2.0000s
    total number of events:              8
"""


def plan(*words):
    return command.Plan(command.parser().parse_args(words))


class Figures(unittest.TestCase):
    def test_each_test_has_its_figure(self):
        files = Case("fileio rndrw", [], "MiB/s", 0.1, files=True)
        self.assertAlmostEqual(figure(files, FILES), 17.76)
        self.assertEqual(figure(Case("threads", [], "events/s", 0.03), FILES), 4.0)
        cpu = Case("cpu", [], "events/s", 0.03)
        self.assertEqual(figure(cpu, "    events per second:  1901.19"), 1901.19)
        memory = Case("memory read", [], "MiB/s", 0.03)
        self.assertEqual(figure(memory, "7.00 MiB transferred (4.22 MiB/sec)"), 4.22)
        with self.assertRaises(BenchError):
            figure(memory, FILES)

    def test_every_mode_is_compared(self):
        names = {case.name for case in cases(plan("--smoke"))}
        self.assertIn("fileio seqrewr", names)
        self.assertIn("memory write rnd 1K", names)
        self.assertTrue({"cpu", "threads", "mutex"} <= names)


class Table(unittest.TestCase):
    def text(self, ours, theirs):
        case = Case("cpu", [], "events/s", 0.03)
        return report.figures_table([(case, {TIDEMARK: ours, SYSBENCH: theirs})])

    def test_a_ratio_on_either_side_is_judged(self):
        self.assertIn("met", self.text([102, 99, 150], [100, 100, 100]))
        self.assertIn("1.020 (0.990–1.500)", self.text([102, 99, 150], [100, 100, 100]))
        self.assertIn("missed", self.text([104], [100]))
        self.assertIn("missed", self.text([96], [100]))

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


class CommandLine(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        self.assertEqual((plan("--smoke").pairs, plan("--smoke").seconds), (1, 1))
        self.assertEqual((plan("--time=3").pairs, plan("--time=3").seconds), (5, 3))

    def test_the_script_says_what_it_does(self):
        said = subprocess.run([ROOT / "bench/host-tests", "--help"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0)
        self.assertIn("sysbench", said.stdout)


if __name__ == "__main__":
    unittest.main()
