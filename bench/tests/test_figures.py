"""Costs, ratios and verdicts. Run: python3 -m unittest discover -s bench/tests"""

import dataclasses
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench import figures, report
from vs_sysbench.clients import NORMAL, SYSBENCH, TIDEMARK
from vs_sysbench.errors import BenchError


def sample(user_s=1.0, system_s=3.0, queries=1_000_000, rss=10 << 20, rate=1000.0, wall_s=10.0):
    return figures.Sample(queries, rate, user_s, system_s, rss, wall_s)


class Costs(unittest.TestCase):
    def test_cpu_is_divided_among_the_queries(self):
        s = sample(user_s=1.0, system_s=3.0, queries=200_000)
        self.assertAlmostEqual(s.cpu_us, 20.0)
        self.assertAlmostEqual(s.user_us, 5.0)
        self.assertAlmostEqual(s.cpu_s, 4.0)


class Latencies(unittest.TestCase):
    def one(self, rate, mean_ms, sessions=10):
        latency = figures.Latency(sessions, rate, mean_ms, mean_ms * 2)
        return dataclasses.replace(sample(rate=rate), latency=latency, native=latency)

    def test_only_like_throughputs_are_compared(self):
        ours = [self.one(1050, 9.5), self.one(1200, 8.3)]
        near, beside = figures.alike(ours, [self.one(1000, 10.0)] * 2)
        self.assertEqual((len(near), len(beside)), (1, 1))
        self.assertAlmostEqual(figures.ratio(figures.MEAN, near, beside).median, 0.95)

    def test_a_mean_that_leaves_time_out_is_missed(self):
        by = {10: {TIDEMARK: [self.one(1000, 9.9)], SYSBENCH: [self.one(1000, 9.9)]}}
        self.assertIn("met", report.latency_table(by))
        self.assertIn("met", report.like_table(by))
        by[10][TIDEMARK] = [self.one(1000, 4.5)]
        self.assertIn("missed", report.latency_table(by))
        self.assertIn("missed", report.like_table(by))


class Percentiles(unittest.TestCase):
    def runs(self, *told, sessions=10):
        """Runs with (transactions/s, mean, percentile)."""
        return [
            dataclasses.replace(sample(), latency=figures.Latency(sessions, *one))
            for one in told
        ]

    def why(self, ours, theirs, normal=None):
        found = {TIDEMARK: self.runs(*ours), SYSBENCH: self.runs(*theirs)}
        if normal:
            found[NORMAL] = self.runs(*normal)
        return report.p95_reasons({10: found})

    def test_nothing_is_told_of_like_percentiles(self):
        self.assertEqual(self.why([(1000, 10, 21)] * 3, [(1000, 10, 20)] * 3), "")
        self.assertEqual(self.why([(1000, 10, 20)], [(1000, 10, 0.0)]), "")

    def test_what_pairs_differ_by_is_their_spread(self):
        ours = [(1000, 10, 30), (1000, 10, 18), (1000, 10, 25)]
        text = self.why(ours, [(1000, 10, 20)] * 3)
        self.assertIn("1.250 (0.900–1.500)", text)
        self.assertIn("within the spread of pairs", text)

    def test_a_small_percentile_is_as_coarse_as_the_output(self):
        text = self.why([(100_000, 0.05, 0.06)], [(100_000, 0.05, 0.07)])
        self.assertIn("cannot tell less than 18% apart", text)

    def test_a_higher_throughput_explains_shorter_latencies(self):
        text = self.why([(1250, 8, 16)] * 2, [(1000, 10, 20)] * 2)
        self.assertIn("Throughput is 1.250 of sysbench's, which by itself gives 0.800", text)
        self.assertIn("the clients used 0.40 and 0.40 CPUs", text)
        self.assertIn("gives 1.000 (1.000–1.000): within 10%", text)
        self.assertNotIn("not explained", text)

    def test_time_that_no_latency_has_is_told(self):
        text = self.why([(1000, 10, 20)] * 2, [(1000, 8, 16)] * 2)
        self.assertIn("account for 1.000 of the sessions' time, sysbench's for 0.800", text)
        self.assertIn("within 10%", text)
        self.assertNotIn("Throughput", text)

    def test_what_no_figure_explains_is_said_so(self):
        ours, theirs = [(1000, 10, 30)] * 2, [(1000, 10, 20)] * 2
        self.assertIn("gives 1.500 (1.500–1.500): not explained (--normal", self.why(ours, theirs))
        text = self.why(ours, theirs, [(1000, 10, 20.5)] * 2)
        self.assertIn("the scheduling class, for --scheduling=normal gives 1.025", text)
        text = self.why(ours, theirs, ours)
        self.assertIn("not explained, for --scheduling=normal gives 1.500", text)


class Ratios(unittest.TestCase):
    def test_each_run_is_compared_with_the_one_beside_it(self):
        # The machine became three times slower between pairs: the ratio stays.
        ours = [sample(user_s=1, system_s=1), sample(user_s=3, system_s=3)]
        theirs = [sample(user_s=2, system_s=2), sample(user_s=6, system_s=6)]
        found = figures.ratio(figures.CPU, ours, theirs)
        self.assertEqual((found.median, found.low, found.high), (0.5, 0.5, 0.5))

    def test_the_median_is_not_moved_by_one_odd_pair(self):
        ours = [sample(rate=r) for r in (1100.0, 1200.0, 9000.0)]
        found = figures.ratio(figures.THROUGHPUT, ours, [sample(rate=1000.0)] * 3)
        self.assertEqual((found.median, found.low, found.high), (1.2, 1.1, 9.0))
        self.assertEqual(str(found), "1.200 (1.100–9.000)")

    def test_unequal_numbers_of_runs_are_refused(self):
        self.assertRaises(ValueError, figures.ratio, figures.CPU, [sample()], [])
        self.assertRaises(ValueError, figures.ratio, figures.CPU, [], [])

    def test_nothing_is_divided_by_a_cost_of_zero(self):
        self.assertIsNone(figures.ratio(figures.USER, [sample()], [sample(user_s=0.0)]))


class Verdicts(unittest.TestCase):
    def verdict(self, figure, value, reach):
        return figures.verdict(figure, figures.Ratio(value, value, value), reach)

    def test_less_is_better_but_for_throughput(self):
        self.assertEqual(self.verdict(figures.CPU, 0.85, 0.85), ("≤ 0.85", "met"))
        self.assertEqual(self.verdict(figures.CPU, 0.851, 0.85), ("≤ 0.85", "missed"))
        self.assertEqual(self.verdict(figures.THROUGHPUT, 1.0, 1.0), ("≥ 1.0", "met"))
        self.assertEqual(self.verdict(figures.THROUGHPUT, 0.999, 1.0), ("≥ 1.0", "missed"))

    def test_without_reach_there_is_no_verdict(self):
        self.assertEqual(self.verdict(figures.CPU, 0.5, None), ("–", "–"))


class Tables(unittest.TestCase):
    def runs(self):
        ours = [sample(user_s=0.5, system_s=2.5, rss=7 << 20)] * 3
        return {TIDEMARK: ours, SYSBENCH: [sample(rss=14 << 20)] * 3}

    def test_each_figure_stands_beside_its_reach(self):
        lines = report.ratios_table({16: self.runs()}, TIDEMARK, SYSBENCH).splitlines()
        self.assertEqual(len(lines), 2 + 4)
        self.assertRegex(lines[2], r"16 .*CPU per query .*0\.750 .*≤ 0\.85 .*met")
        self.assertRegex(lines[3], r"user space .*0\.500 .*≤ 0\.5 .*met")
        self.assertRegex(lines[4], r"memory .*0\.500 .*≤ 0\.7 .*met")
        self.assertRegex(lines[5], r"throughput .*1\.000 .*≥ 1\.0 .*met")

    def test_the_same_ratios_miss_what_is_asked_of_256_sessions(self):
        text = report.ratios_table({256: self.runs()}, TIDEMARK, SYSBENCH)
        self.assertEqual(text.count("missed"), 3)
        self.assertEqual(text.count("met "), 1)

    def test_costs_are_shown_for_each_client(self):
        text = report.costs_table({16: self.runs()})
        self.assertRegex(text, r"Tidemark +\| 3\.0 µs +\| 0\.5 µs +\| 7\.0 MiB")
        self.assertRegex(text, r"sysbench +\| 4\.0 µs +\| 1\.0 µs +\| 14\.0 MiB")

    def test_loading_is_judged_by_its_wall_time(self):
        runs = {TIDEMARK: [sample(wall_s=4.0)], SYSBENCH: [sample(wall_s=10.0)]}
        text = report.load_table(runs)
        self.assertRegex(text, r"wall time +\| 4\.00 s +\| 10\.00 s +\| 0\.400 .*≤ 0\.5 \| met")
        self.assertNotIn("missed", text)

    def test_all_rows_of_a_table_are_equally_long(self):
        lines = report.table(["a", "bbbb"], [["1", "2"], ["333333", "4"]]).splitlines()
        self.assertEqual(len({len(line) for line in lines}), 1)


class Readme(unittest.TestCase):
    def test_only_what_stands_between_the_markers_is_replaced(self):
        text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
        once = report.replace_block(text, "new\n\n")
        self.assertEqual(once, f"before\n{report.BEGIN}\nnew\n{report.END}\nafter\n")
        self.assertEqual(report.replace_block(once, "new"), once)

    def test_a_readme_without_markers_is_left_alone(self):
        for text in ["", report.BEGIN, report.END, f"{report.END} {report.BEGIN}"]:
            self.assertRaises(BenchError, report.replace_block, text, "new")

    def test_the_readme_has_its_markers(self):
        readme = pathlib.Path(__file__).resolve().parents[1] / "README.md"
        self.assertIn("new block", report.replace_block(readme.read_text(), "new block"))


if __name__ == "__main__":
    unittest.main()
