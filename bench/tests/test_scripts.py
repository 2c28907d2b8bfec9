"""Scripts: what is computed and judged. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from script_costs import bench, report
from vs_sysbench.clients import SYSBENCH, TIDEMARK
from vs_sysbench.figures import Sample
from vs_sysbench.report import replace_block


def sample(cpu_us):
    return Sample(1000, 100.0, cpu_us / 1e3, 0.0, 1 << 20, 10.0)


class Tables(unittest.TestCase):
    def found(self, ours, theirs):
        found = bench.Found("MariaDB 1")
        runs = {TIDEMARK: [sample(c) for c in ours], SYSBENCH: [sample(c) for c in theirs]}
        found.pairs = {16: runs, 5: runs}
        found.memory = {200: 50 << 20, 1_000: (50 << 20) + 800 * 60 * 1024}
        found.many = (10_000, 12_345.0, 1 << 30)
        return found

    def test_the_median_of_pairs_is_judged_where_there_is_a_reach(self):
        text = report.cpu_table([self.found([7, 9, 6], [10, 10, 10])])
        self.assertIn("0.700 (0.600–0.900)", text)
        self.assertEqual(text.count("met"), 1)
        self.assertIn("missed", report.cpu_table([self.found([9], [10])]))

    def test_memory_of_a_thread_is_a_slope(self):
        found = self.found([1], [1])
        self.assertAlmostEqual(report.per_thread_kib(found.memory), 60)
        text = report.memory_table([found])
        self.assertIn("60.0 KiB", text)
        self.assertIn("10,000 threads run", text)

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))

    def test_help_says_what_it_measures(self):
        done = subprocess.run([ROOT / "bench/scripts", "--help"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0)
        self.assertIn("oltp_read_write.lua", done.stdout)


if __name__ == "__main__":
    unittest.main()
