"""Changed outputs: what is made, changed and told. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import random
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from import_costs import changes, command, outputs, report
from vs_sysbench.report import replace_block


class Outputs(unittest.TestCase):
    def test_every_shape_has_figures_and_lines_to_change(self):
        for name, make in outputs.SHAPES.items():
            text = make(3)
            self.assertEqual(text, make(3), name)
            self.assertGreater(len({make(seed) for seed in range(10)}), 1, name)
            for labels in (changes.DETERMINED, changes.ALWAYS, changes.OVER_TIME):
                found = [m for label in labels for m in re.finditer(label, text, flags=re.M)]
                is_told_at_the_end = name == "go-ycsb" and labels is changes.ALWAYS
                self.assertTrue(found or is_told_at_the_end, name)

    def test_the_figures_of_go_ycsb_add_up(self):
        line = r"^(READ|TOTAL|UPDATE) +- Takes\(s\): 60.0, Count: (\d+), .*Avg\(us\): (\d+)"
        rows = re.findall(line, outputs.go_ycsb(1), flags=re.M)
        rows = {name: (int(count), int(us)) for name, count, us in rows}
        count = rows["READ"][0] + rows["UPDATE"][0]
        self.assertEqual(count, rows["TOTAL"][0])
        total = sum(rows[name][0] * rows[name][1] for name in ("READ", "UPDATE"))
        self.assertAlmostEqual(total / count / rows["TOTAL"][1], 1, places=3)


class Changes(unittest.TestCase):
    def test_a_change_is_one_figure_one_line_or_one_client(self):
        kinds = set()
        for seed in range(300):
            chance = random.Random(seed)
            name = chance.choice(list(outputs.SHAPES))
            text = outputs.SHAPES[name](seed)
            place, new = changes.changed(text, chance)
            before, after = text.splitlines(), new.splitlines()
            if place == "client removed":
                kinds.add("client")
                self.assertNotIn("## client 2", new)
                self.assertIn("## client 3", new)
            elif place.startswith("lost line"):
                kinds.add("line")
                self.assertEqual(len(after) + 1, len(before))
            else:
                kinds.add("figure")
                self.assertEqual(sum(a != b for a, b in zip(before, after)), 1, name)
        self.assertEqual(kinds, {"client", "line", "figure"})


class Table(unittest.TestCase):
    def test_figures_are_judged(self):
        found = command.Found(50, 0, (228.0, 29.6, 1e9), {"sysbench": (190, 200), "pgbench": (200, 200)})
        text = report.figures_table(found)
        self.assertIn("97.5 %", text)
        self.assertIn("190 of 200", text)
        self.assertEqual(text.count(" met "), 4)
        found = command.Found(50, 1, (150.0, 90.0, 1e9), {"sysbench": (100, 200)})
        self.assertEqual(report.figures_table(found).count("missed"), 4)

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


if __name__ == "__main__":
    unittest.main()
