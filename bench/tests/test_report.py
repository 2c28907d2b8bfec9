"""Reports of many runs: what is judged and told. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from report_costs import bench, report
from vs_sysbench.report import replace_block


class Table(unittest.TestCase):
    def test_medians_are_judged(self):
        pages = [bench.Page(s, mib << 20, 1_500_000) for s, mib in ((1, 90), (2, 100), (9, 900))]
        text = report.figures_table(bench.Found(1, pages))
        self.assertIn("2.00 s (1.00–9.00)", text)
        self.assertIn("100 MiB (90–900)", text)
        self.assertEqual(text.count("met"), 3)
        pages = [bench.Page(2.1, 201 << 20, 3_100_000)]
        self.assertEqual(report.figures_table(bench.Found(1, pages)).count("missed"), 3)

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


if __name__ == "__main__":
    unittest.main()
