"""Very many sessions: what is read, judged and configured. Run: python3 -m unittest discover -s
bench/tests"""

import argparse
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from session_costs import command, figures, parse, pgbouncer, report
from session_costs.report import PREPARED, TEXT
from vs_sysbench import machine, script, target
from vs_sysbench.clients import BARE, TIDEMARK
from vs_sysbench.errors import BenchError
from vs_sysbench.figures import Sample
from vs_sysbench.report import replace_block

SUMMARY = """\
    transactions:                        101316 (17983.66 per sec.)
    queries:                             101316 (17983.66 per sec.)
    ignored errors:                      3      (0.53 per sec.)
    reconnects:                          2      (0.35 per sec.)

Threads fairness:
    events (avg/stddev):           10.1316/0.46
    execution time (avg/stddev):   5.2187/0.18
"""
RECORDING = """\
smoke: figures mean nothing
clock, read twice      39.5 ns   (39.5–41.5, 9 runs)
Histogram::record       6.1 ns   (5.9–6.8, 9 runs)
Recorder::record       48.0 ns   (38.0–118.2, 9 runs)
"""


def sample(cpu_s=1.0, queries=100_000, rss=40 << 20, rate=1000.0):
    return Sample(queries, rate, cpu_s / 4, cpu_s * 3 / 4, rss, 10.0)


def crowd(terminals, sessions, *memories):
    said = parse.summary(SUMMARY)
    runs = [figures.Run(sample(rss=memory), said) for memory in memories]
    return figures.Crowd("MariaDB", terminals, sessions, runs)


class Summary(unittest.TestCase):
    def test_all_that_is_shown_is_read(self):
        said = parse.summary(SUMMARY)
        self.assertEqual(said, parse.Said(101316, 17983.66, 3, 2, 10.1316, 0.46))

    def test_a_summary_with_a_part_missing_or_twice_is_an_error(self):
        for line in SUMMARY.splitlines()[1:4] + SUMMARY.splitlines()[6:7]:
            with self.subTest(line=line):
                self.assertRaises(BenchError, parse.summary, SUMMARY.replace(line, ""))
                self.assertRaises(BenchError, parse.summary, f"{SUMMARY}{line}\n")


class Recording(unittest.TestCase):
    def test_each_step_is_read(self):
        costs = parse.recording(RECORDING)
        self.assertEqual([cost.name for cost in costs],
                         ["clock, read twice", "Histogram::record", "Recorder::record"])
        self.assertEqual((costs[2].median, costs[2].low, costs[2].high), (48.0, 38.0, 118.2))

    def test_an_output_without_the_recorder_is_an_error(self):
        self.assertRaises(BenchError, parse.recording, "")
        self.assertRaises(BenchError, parse.recording, RECORDING.replace("Recorder", "Other"))

    def test_the_recorder_alone_is_judged(self):
        text = report.recording_table(parse.recording(RECORDING))
        self.assertRegex(text, r"Recorder::record +\| 48\.0 ns .*≤ 50 ns \| met")
        self.assertEqual(text.count("≤"), 1)
        slow = report.recording_table(parse.recording(RECORDING.replace("48.0", "50.1")))
        self.assertRegex(slow, r"Recorder::record +\| 50\.1 ns .*missed")


class Crowds(unittest.TestCase):
    def test_memory_is_judged_by_its_median(self):
        text = report.crowds_table([crowd(10_000, 10_000, 47 << 20, 48 << 20, 60 << 20)])
        self.assertRegex(text, r"48\.0 MiB \(47\.0–60\.0\) \| ≤ 48 MiB \| met")
        text = report.crowds_table([crowd(10_000, 10_000, (48 << 20) + 1)])
        self.assertIn("missed", text)

    def test_terminals_have_a_reach_of_their_own(self):
        text = report.crowds_table([crowd(100_000, 200, 128 << 20)])
        self.assertRegex(text, r"100,000 +\| 200 .*≤ 128 MiB \| met")

    def test_other_numbers_have_none(self):
        self.assertIsNone(crowd(4_000, 4_000, 1).reach)
        self.assertIsNone(crowd(10_000, 200, 1).reach)

    def test_errors_of_all_runs_are_shown(self):
        lines = report.crowds_table([crowd(10_000, 10_000, 1, 1, 1)]).splitlines()
        self.assertRegex(lines[2], r"10\.1 ± 0\.5 .*\| 9 +\| 6 +\|$")


class Pairs(unittest.TestCase):
    def test_the_better_of_two_is_chosen_in_each_round(self):
        one, other = [sample(1.0), sample(4.0)], [sample(2.0), sample(3.0)]
        self.assertEqual(figures.better_of(one, other), [one[0], other[1]])
        self.assertRaises(ValueError, figures.better_of, one, other[:1])

    def test_tidemark_is_compared_with_the_better_way_of_sysbench(self):
        runs = {TIDEMARK: [sample(1.0)], PREPARED: [sample(4.0)], TEXT: [sample(2.0)]}
        text = report.against_sysbench([("MariaDB", 1_000, runs)])
        self.assertRegex(text, r"10\.0 µs +\| 40\.0 µs +\| 20\.0 µs .*0\.500 .*≤ 0\.5 +\| met")
        runs[TEXT] = [sample(1.9)]
        self.assertIn("missed", report.against_sysbench([("MariaDB", 1_000, runs)]))

    def test_beside_the_bare_loop_a_quarter_more_is_allowed(self):
        runs = {TIDEMARK: [sample(1.25)], BARE: [sample(1.0)]}
        text = report.against_bare([("PostgreSQL", 16, runs), ("PostgreSQL", 4, runs)])
        self.assertRegex(text, r"16 .*1\.250 .*≤ 1\.25 +\| met")
        self.assertRegex(text, r"\| 4 .*1\.250 .*\| – +\| –")
        runs[TIDEMARK] = [sample(1.26)]
        self.assertIn("missed", report.against_bare([("PostgreSQL", 64, runs)]))


class Pool(unittest.TestCase):
    SERVER = target.Target("pgsql", "db.example", 5433, "me", 'a"b', "sbtest")

    def test_the_password_is_in_the_file_of_accounts_alone(self):
        text = pgbouncer.configuration(self.SERVER, "/run/x", 6432, 4000)
        self.assertIn("bench = host=db.example port=5433 dbname=sbtest\n", text)
        self.assertIn("listen_port = 6432\n", text)
        self.assertIn("pool_mode = transaction\n", text)
        self.assertNotIn('a"b', text)
        self.assertEqual(pgbouncer.users(self.SERVER), '"me" "a""b"')

    def test_it_takes_all_the_sessions_asked_for(self):
        text = pgbouncer.configuration(self.SERVER, "/run/x", 6432, 4000)
        found = [line for line in text.splitlines() if line.startswith("max_client_conn")]
        self.assertGreater(int(found[0].split("=")[1]), 4000)

    def test_only_the_user_can_read_what_it_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            path = target.write_secret(pathlib.Path(folder, "users"), ["x"])
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)


class Options(unittest.TestCase):
    def test_parts_are_known(self):
        self.assertEqual(command.parts("many,recording"), ["many", "recording"])
        self.assertRaises(argparse.ArgumentTypeError, command.parts, "many,other")

    def test_tables_of_a_few_parts_do_not_go_into_the_readme(self):
        script = machine.ROOT / "bench/sessions"
        for options in (["--smoke"], ["--parts=many"]):
            done = subprocess.run(
                [script, "--write-readme", *options], capture_output=True, text=True, timeout=30
            )
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--", done.stderr)

    def test_servers_take_settings_of_their_own_only_with_a_value(self):
        for option in ("--mariadb-set=back-log", "--mariadb-set==1", "--postgres-set"):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    [machine.SERVERS, "start", folder, option],
                    capture_output=True, text=True, timeout=30,
                )
                self.assertEqual(done.returncode, 1)
                self.assertIn(f"unknown option {option}", done.stderr)


class Readme(unittest.TestCase):
    def test_the_readme_has_the_markers(self):
        text = script.README.read_text()
        self.assertIn("new block", replace_block(text, "new block", report.BEGIN, report.END))


if __name__ == "__main__":
    unittest.main()
