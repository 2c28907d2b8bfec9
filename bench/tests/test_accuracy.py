"""Histograms, differences and stalls. Run: python3 -m unittest discover -s bench/tests"""

import base64
import pathlib
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from laboratory import figures, report
from laboratory.histogram import Histogram
from vs_sysbench.errors import BenchError
from vs_sysbench.report import replace_block

# Written by Tidemark: 5,000 ns twice, 16 ms, and 30 minutes.
TIDEMARK = (
    "1800016010000:5000:1800000000000:"
    "HISTEwAAAAsAAAAAAAAAAwAAAAAAAAABAAAB//////8/8AAAAAAAAMMzBPu6AQLTiwIC"
)


def encoded(numbers, low=1, high=10**9, cookie=0x1C849313):
    """A histogram of these counts, each in one byte."""
    payload = bytes(n << 1 if n >= 0 else (-n << 1) - 1 for n in numbers)
    header = struct.pack(">IIIIQQd", cookie, len(payload), 0, 3, 1, 2, 1.0)
    return f"0:{low}:{high}:{base64.b64encode(header + payload).decode()}"


class Histograms(unittest.TestCase):
    def test_what_tidemark_writes_is_read(self):
        found = Histogram(TIDEMARK)
        self.assertEqual(found.count, 4)
        self.assertEqual((found.min_ns, found.max_ns), (5_000, 1_800_000_000_000))
        for percent, expected in ((50, 5_000), (75, 16_000_000), (100, 1_800_000_000_000)):
            self.assertAlmostEqual(found.percentile_ns(percent) / expected, 1, delta=0.001)

    def test_counts_and_gaps_of_hand_made_bytes(self):
        # Nothing at 0 to 4; two at 5, one at 6; nothing up to 19; one at 20.
        found = Histogram(encoded([-5, 2, 1, -13, 1], low=5, high=20))
        self.assertEqual(found.counts, [(5, 2), (6, 1), (20, 1)])
        asked = [found.percentile_ns(p) for p in (0, 50, 51, 75, 76, 100)]
        self.assertEqual(asked, [5, 5, 6, 6, 20, 20])

    def test_an_empty_one_has_no_latency(self):
        self.assertEqual(Histogram(encoded([])).percentile_ns(99), 0)

    def test_other_bytes_are_refused(self):
        cut_off = encoded([1, 1, 1])
        for text in ("", "1:2:3", "1:2:3:!", encoded([1], cookie=7), cut_off[:-4]):
            self.assertRaises(BenchError, Histogram, text)


class Differences(unittest.TestCase):
    def near(self, truth_ns, measured_ns):
        return figures.Difference(50.0, truth_ns, measured_ns).near

    def test_one_percent_or_fifty_microseconds(self):
        self.assertTrue(self.near(1_000_000, 1_050_000))
        self.assertFalse(self.near(1_000_000, 1_050_001))
        self.assertTrue(self.near(100_000_000, 99_000_000))
        self.assertFalse(self.near(100_000_000, 98_999_999))


class Stalls(unittest.TestCase):
    def test_response_times_are_where_the_stall_puts_them(self):
        # 10 s at 100/s with a stall of 1 s in it, each answer at the stall's end.
        waits = sorted([0.0] * 900 + [1 - n / 100 for n in range(100)])
        stall = figures.Stall(1.0, 10.0)
        for percent in (91.0, 95.0, 99.0):
            expected = waits[int(percent * 10) - 1]
            self.assertAlmostEqual(stall.response_s(percent), expected, delta=0.011)
            self.assertTrue(stall.seen(percent, expected * 1e9))
            self.assertFalse(stall.seen(percent, (expected - 0.05) * 1e9))
        self.assertIsNone(stall.response_s(89.0))

    def test_what_came_in_a_stall_is_answered_one_after_the_other(self):
        # The same with an answer every 4 ms: arrivals come every 10 ms.
        ended_s, waited = 0.0, []
        for number in range(1000):
            came_s = number * 0.01
            ended_s = max(came_s, ended_s, 5.0 if 4.0 <= came_s < 5.0 else 0.0) + 0.004
            waited.append(ended_s - came_s)
        stall = figures.Stall(1.0, 10.0, 0.4)
        for percent in (90.0, 95.0, 99.0):
            expected = sorted(waited)[int(percent * 10) - 1]
            self.assertAlmostEqual(stall.response_s(percent), expected, delta=0.02)
            self.assertTrue(stall.seen(percent, expected * 1e9))


class Run:
    """A run as far as the question of lateness goes."""

    def __init__(self, per_second, late_ns, dropped=0):
        self.per_second, self.dropped = per_second, dropped
        # One bucket of one nanosecond; larger ones by their edges.
        self.lateness = None if late_ns is None else self
        self.late_ns = late_ns

    def percentile_ns(self, _):
        return self.late_ns


class Lateness(unittest.TestCase):
    def test_a_rate_is_held_when_it_was_done_in_time_and_whole(self):
        self.assertTrue(figures.held(Run(39_700, 900_000), 40_000))
        self.assertFalse(figures.held(Run(39_500, 900_000), 40_000))
        self.assertFalse(figures.held(Run(40_000, 1_100_000), 40_000))
        self.assertFalse(figures.held(Run(40_000, 900_000, dropped=1), 40_000))

    def test_lateness_that_was_not_recorded_is_not_in_time(self):
        self.assertFalse(figures.in_time(Run(40_000, None), 200_000))


class Report(unittest.TestCase):
    def test_times_have_units(self):
        self.assertEqual(report.time(1_234), "1 µs")
        self.assertEqual(report.time(2_500_000), "2.500 ms")
        self.assertEqual(report.signed(-1_500_000_000), "−1.500 s")

    def test_only_its_own_block_is_replaced(self):
        text = f"a\n{report.BEGIN}\nold\n{report.END}\nb"
        found = replace_block(text, "new", report.BEGIN, report.END)
        self.assertEqual(found, f"a\n{report.BEGIN}\nnew\n{report.END}\nb")
        self.assertRaises(BenchError, replace_block, "a", "new", report.BEGIN, report.END)


if __name__ == "__main__":
    unittest.main()
