"""Several clients: what records must say, and what is asked.
Run: python3 -m unittest discover -s bench/tests"""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))

from clients_costs import command, faults, judged, places


def record(**changed):
    client = {"name": "a", "state": "finished", "all": {"count": 5}, "start_late_ms": 0.5,
              "clock_offset_ms": -0.01, "clock_error_ms": 0.05}
    other = {**client, "name": "b", "start_late_ms": 2.0}
    interval = {"start_ms": 0, "phase": "measure", "types": {"t": {"count": 10}}}
    return {"state": "finished", "totals": {"all": {"count": 10}}, "clients": [client, other],
            "intervals": [interval], **changed}


class Judged(unittest.TestCase):
    def test_sums_that_agree_are_right(self):
        self.assertIsNone(judged.complaint(record(), "finished", []))

    def test_what_is_lost_doubled_or_judged_otherwise_is_told(self):
        for wrong, word in [
            (record(totals={"all": {"count": 11}}), "11 in all"),
            (record(intervals=[]), "0 of the intervals"),
            (record(intervals=record()["intervals"] * 2,
                    totals={"all": {"count": 20}}), "10 of the clients"),
            (record(state="failed"), "ended as failed"),
        ]:
            self.assertIn(word, judged.complaint(wrong, "finished", []))
        self.assertIn("lost are", judged.complaint(record(), "finished", ["b"]))

    def test_the_skew_is_between_first_and_last(self):
        worst, error, within = judged.skew(record())
        self.assertEqual((worst, error, within), (1.5, 0.05, True))

    def test_clocks_of_hosts_may_be_apart(self):
        self.assertFalse(judged.skew(record(), {"a": 1000.0})[2])
        hosts = record()
        hosts["clients"][0]["clock_offset_ms"] = 1000.02
        self.assertTrue(judged.skew(hosts, {"a": 1000.0})[2])
        self.assertFalse(judged.skew(hosts)[2])

    def test_an_interval_of_ratios_contains_their_mean(self):
        middle, (low, high) = judged.ratio_interval([0.9, 1.0, 1.1, 1.02])
        self.assertLess(low, middle)
        self.assertGreater(high, middle)
        self.assertIsNone(judged.ratio_interval([1.0])[1])


class Apart(unittest.TestCase):
    def test_the_server_and_what_is_started_beside_it_share_no_processor(self):
        before = os.sched_getaffinity(0)
        with subprocess.Popen(["sleep", "60"]) as server:
            try:
                with places.ServerApart(server.pid) as apart:
                    of_server, own = os.sched_getaffinity(server.pid), os.sched_getaffinity(0)
                    self.assertEqual(apart.is_possible, len(before) > 1)
                    if apart.is_possible:
                        self.assertEqual((len(of_server), of_server & own), (1, set()))
                        self.assertEqual(of_server | own, before)
                self.assertEqual(os.sched_getaffinity(0), before)
                self.assertEqual(os.sched_getaffinity(server.pid), before)
            finally:
                server.kill()


class Options(unittest.TestCase):
    def test_a_smoke_test_is_small(self):
        args = command.parser().parse_args(["--smoke"])
        self.assertEqual(command.sizes(args), (10, 3, 1, 1))
        self.assertEqual(command.sizes(command.parser().parse_args([])), (300, 60, 20, 10))

    def test_faults_can_be_chosen(self):
        args = command.parser().parse_args(["--kinds", "client killed,disk of a client full"])
        self.assertEqual(args.kinds, ["client killed", "disk of a client full"])
        self.assertEqual(command.parser().parse_args([]).kinds, faults.FAULTS)
        self.assertLessEqual(set(faults.HARMLESS), set(faults.FAULTS))

    def test_a_password_leaves_the_url(self):
        bare, password = command.without_password("mysql://u:p%40w@127.0.0.1:3306/d")
        self.assertEqual((bare, password), ("mysql://u@127.0.0.1:3306/d", "p@w"))
