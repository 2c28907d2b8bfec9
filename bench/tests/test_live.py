"""Watching and keeping: what is computed, judged and asked, and the terminal that it is seen on.
Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from live_costs import bench, command, report, terminal
from live_costs.report import OFF, ON
from vs_sysbench.errors import BenchError
from vs_sysbench.report import replace_block


class Table(unittest.TestCase):
    def found(self, on, off):
        found = bench.Found("MariaDB 1", "oltp_point_select")
        found.runs = {ON: on, OFF: off}
        return found

    def test_the_median_of_pairs_is_judged(self):
        text = report.figures_table([self.found([990, 980, 1100], [1000, 1000, 1000])])
        self.assertIn("0.990 (0.980–1.100)", text)
        self.assertIn("| met", text)
        on = [900, 910, 920, 980, 1100, 1200]
        text = report.figures_table([self.found(on, [1000] * 6)])
        self.assertRegex(text, r"0\.950 \(0\.900–1\.200\) +\| 0\.900–1\.200")
        self.assertIn("| missed", text)
        text = report.figures_table([self.found([989], [1000])])
        self.assertIn("| –", text)
        self.assertNotIn("all pairs", text)

    def test_all_pairs_are_judged_together_too(self):
        text = report.figures_table([self.found([990, 980], [1000] * 2), self.found([1100], [1000])])
        self.assertIn("0.985 (0.980–0.990)", text)
        of_all = next(line for line in text.splitlines() if "all pairs" in line)
        self.assertIn("0.990 (0.980–1.100)", of_all)
        self.assertIn("met", of_all)

    def test_the_median_lies_between_order_statistics(self):
        # Binomial: of 5 pairs all lie on one side once in 16, of 6 once in 32; of 9 the second and
        # of 40 the fourteenth are the last that less than one in 40 leaves outside.
        self.assertIsNone(report.median_interval([1.0] * 5))
        for number, outside in [(6, 0), (8, 0), (9, 1), (15, 3), (40, 13)]:
            values = [float(n) for n in range(number)]
            self.assertEqual(report.median_interval(values[::-1]), (outside, number - 1 - outside), number)

    def test_processor_time_is_a_part_of_all_processors(self):
        cost = bench.Cost("MariaDB 1", 10)
        cores = report.os.cpu_count()
        cost.cpu_s = {ON: [0.3, 0.25, 0.9], OFF: [0.1, 0.1, 0.2]}
        self.assertAlmostEqual(report.part(cost), 0.02 / cores)
        text = report.costs_table([cost])
        self.assertIn("0.300 s (0.250–0.900)", text)
        self.assertEqual("| met" in text, 0.02 / cores <= 0.01)
        cost.cpu_s[ON] = [0.1 + 0.2 * cores]
        self.assertIn("missed", report.costs_table([cost]))

    def test_a_pair_lacks_neither_run(self):
        with self.assertRaises(ValueError):
            report.figures_table([self.found([1, 2], [1])])

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


class Terminal(unittest.TestCase):
    def shown(self, script):
        return terminal.run([sys.executable, "-c", script], 20)

    def test_the_program_has_a_terminal_of_its_own(self):
        shown = self.shown("import os,sys;print(sys.stdin.isatty(), *os.get_terminal_size(2));"
                           "print(os.tcgetpgrp(0) == os.getpgrp()); sys.exit(3)")
        self.assertEqual(shown.status, 3)
        self.assertEqual(shown.written.split(), [b"True", b"120", b"40", b"True"])
        self.assertFalse(shown.had_view)

    def test_a_view_enters_and_leaves(self):
        enter, leave = terminal.ENTER.decode(), terminal.LEAVE.decode()
        for written, had_view in [(enter + "x" + leave, True), (enter, False), (leave + enter, False)]:
            self.assertEqual(self.shown(f"print({written!r})").had_view, had_view, written)

    def test_what_is_said_comes_after_the_view(self):
        enter, leave = terminal.ENTER.decode(), terminal.LEAVE.decode()
        for written in ["said", f"{enter}drawn{leave}said"]:
            self.assertEqual(self.shown(f"print({written!r})").said, "said\n", written)

    def test_processor_time_is_the_programs(self):
        spent = self.shown("import time\nwhile time.process_time() < 0.3: pass").cpu_s
        self.assertTrue(0.3 <= spent < 5, spent)
        self.assertLess(self.shown("").cpu_s, spent)

    def test_who_does_not_end_is_killed(self):
        with self.assertRaises(BenchError):
            terminal.run([sys.executable, "-c", "import time; time.sleep(60)"], 1)


class CommandLine(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        plan = command.Plan(command.parser().parse_args(["--smoke"]))
        self.assertEqual((plan.pairs, plan.seconds, plan.run_size.rows), (1, 1, 500))
        plan = command.Plan(command.parser().parse_args(["--pairs=3"]))
        self.assertEqual((plan.pairs, plan.seconds, plan.sessions), (3, 3, 16))
        self.assertEqual((plan.cost_pairs, command.Plan(command.parser().parse_args([])).cost_pairs), (3, 5))

    def test_the_script_says_what_it_does(self):
        said = subprocess.run([ROOT / "bench/live", "--help"], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0)
        self.assertIn("throughput", said.stdout)


if __name__ == "__main__":
    unittest.main()
