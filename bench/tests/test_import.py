"""Changed outputs: what is made, changed and told. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import random
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from import_costs import changes, command, outputs, report, stated, taken
from vs_sysbench.report import replace_block


class Outputs(unittest.TestCase):
    def test_every_shape_has_figures_and_lines_to_change(self):
        for name, make in outputs.SHAPES.items():
            text = make(3)
            self.assertEqual(text, make(3), name)
            self.assertGreater(len({make(seed) for seed in range(10)}), 1, name)
            for labels in (changes.DETERMINED, changes.ALWAYS, changes.OVER_TIME):
                found = [m for label in labels for m in re.finditer(label, text, flags=re.M)]
                # go-ycsb tells all of it at the end, the log of BenchBase nothing over time.
                none = {"go-ycsb": changes.ALWAYS, "benchbase": changes.OVER_TIME}
                self.assertTrue(found or none.get(name) is labels, name)

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


class Stated(unittest.TestCase):
    def test_every_shape_states_figures_on_their_lines(self):
        for name in ("sysbench", "pgbench", "go-ycsb", "go-tpc"):
            text = outputs.SHAPES[name](2)
            found = stated.figures(text)
            self.assertGreater(len(found), 20, name)
            lines = text.split("\n")
            for one in found:
                words = lines[one.line - 1]
                numbers = [float(n) for n in re.findall(r"\d+(?:\.\d+)?", words)]
                scaled = numbers + [n / 1000 for n in numbers]
                self.assertTrue(any(abs(n - one.value) < 1e-9 for n in scaled), (name, one, words))

    def test_figures_have_the_names_of_records(self):
        found = stated.figures(
            "SQL statistics:\n        read:                            140\n"
            "    transactions:                        10     (1.00 per sec.)\n"
            "Latency (ms):\n         95th percentile:                        0.00\n"
            "         99th percentile:                        7.25\r\n")
        self.assertEqual([(one.line, one.name, one.value) for one in found],
                         [(2, "read", 140), (3, "count", 10), (3, "rate", 1), (6, "p99_ms", 7.25)])
        line = "progress: 1.0 s, 50.0 tps, lat 1.250 ms stddev 0.300, 0 failed, lag 0.100 ms"
        self.assertEqual([one.name for one in stated.figures(line)], ["end_s", "rate", "mean_ms", "stddev_ms"])

    def test_labels_of_other_files_are_no_figures(self):
        self.assertEqual(stated.figures("limits:\n  min: 5\n  max: 9\n  read: 3\n"), [])

    def test_the_data_file_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "a.txt")
            output.write_text("tps = 12.5 (without initial connection time)\n")
            self.assertEqual(stated.expected(output), [stated.Stated(1, "rate", 12.5)])
            kept = [stated.Stated(1, "rate", 12.5), stated.Stated(9, "count", 3)]
            stated.write(output, kept)
            self.assertEqual(stated.expected(output), kept)
            self.assertEqual(taken.documents([pathlib.Path(folder)]), [output])


class Taken(unittest.TestCase):
    def test_a_figure_counts_on_its_line_with_its_name_and_value(self):
        record = {"imported": {
            "figures": [{"line": 4, "name": "mean_ms", "value": 1.5}],
            "intervals": [{"line": 2, "end_s": 1.0, "rate": 50.0, "more": {"stddev_ms": 0.3}}]}}
        right = [stated.Stated(4, "mean_ms", 1.5), stated.Stated(2, "rate", 50), stated.Stated(2, "stddev_ms", 0.3)]
        self.assertEqual(taken.missing(right, [record]), [])
        wrong = [stated.Stated(5, "mean_ms", 1.5), stated.Stated(4, "min_ms", 1.5), stated.Stated(2, "rate", 50.1)]
        self.assertEqual(taken.missing(wrong, [record]), wrong)
        self.assertEqual(taken.missing(right, [{}]), right)


class Table(unittest.TestCase):
    def test_figures_are_judged(self):
        found = command.Found(50, 0, (228.0, 29.6, 1e9), {"sysbench": (190, 200), "pgbench": (200, 200)})
        text = report.figures_table(found)
        self.assertIn("97.5 %", text)
        self.assertIn("190 of 200", text)
        self.assertEqual(text.count(" met "), 4)
        found = command.Found(50, 1, (150.0, 90.0, 1e9), {"sysbench": (100, 200)})
        self.assertEqual(report.figures_table(found).count("missed"), 4)

    def test_figures_taken_over_are_judged(self):
        found = command.Found(50, 0, (), {"sysbench": (10, 10)}, {"real outputs": (90, 90), "reports": (8, 9)})
        text = re.sub(" +", " ", report.figures_table(found))
        self.assertIn("| figures taken over, real outputs | 90 of 90 | all | met |", text)
        self.assertIn("| figures taken over, reports | 8 of 9 | all | missed |", text)

    def test_the_readme_has_a_place_for_it(self):
        text = (ROOT / "bench/README.md").read_text()
        self.assertIn("x\n", replace_block(text, "x", report.BEGIN, report.END))


if __name__ == "__main__":
    unittest.main()
