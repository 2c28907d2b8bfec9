"""TPC-C: what is read, computed and judged. Run: python3 -m unittest discover -s bench/tests"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from tpcc_costs import bench, command, figures, native, parse, report
from vs_sysbench import machine
from vs_sysbench.clients import TIDEMARK
from vs_sysbench.errors import BenchError
from vs_sysbench.figures import Sample
from vs_sysbench.report import replace_block

NAMES = ["4.3.3.1", *(f"3.3.2.{n}" for n in range(1, 13))]
CHECK = "".join(f"Condition {name}: holds (0.{n:02} s): what it says\n"
                for n, name in enumerate(NAMES))
CHECK += "13 of 13 consistency conditions hold (3.04 s)\nFinished\n"


def record(**changes):
    read = {
        "state": "finished",
        "totals": {
            "elapsed_s": 60.0,
            "statements": {"read": 500, "write": 300, "other": 200, "noop_writes": 9},
            "ignored_errors": 2,
            "reconnects": 1,
            "notes": {"order_line": 450, "rolled_back": 1, "remote_line": 5},
            "types": {
                "NewOrder": {"count": 45},
                "Payment": {"count": 43},
                "Delivery": {"count": 4},
                "DeferredDelivery": {"count": 4},
            },
        },
    }
    read.update(changes)
    return json.dumps(read)


def mix(cpu_s=0.02, orders=643, elapsed_s=300.0, rss=100 << 20):
    return figures.Mix(Sample(1000, 100.0, cpu_s, 0.0, rss, 10.0), 100, orders, elapsed_s, 0)


class Record(unittest.TestCase):
    def test_statements_transactions_and_errors_are_summed(self):
        said = parse.record(record())
        self.assertEqual(said, parse.Said(1000, 92, 45, 60.0, 3, 450, 1))

    def test_a_run_that_did_not_end_well_is_an_error(self):
        for text in ("", "[]", "{}", record(state="failed"), record(totals={})):
            with self.subTest(text=text):
                self.assertRaises(BenchError, parse.record, text)


class Check(unittest.TestCase):
    def test_each_condition_and_all_are_read(self):
        checked = parse.check(CHECK)
        self.assertEqual(checked.seconds, 3.04)
        self.assertEqual(list(checked.conditions), NAMES)
        self.assertEqual(checked.slowest, ("3.3.2.12", 0.12))

    def test_a_condition_that_does_not_hold_or_is_missing_is_an_error(self):
        broken = CHECK.replace("3.3.2.7: holds", "3.3.2.7: violated 2 times, first: w_id=1")
        missing = "".join(CHECK.splitlines(keepends=True)[:5] + ["13 of 13 consistency conditions "
                                                                "hold (3.04 s)\n"])
        for text in (broken, missing, CHECK.replace("13 of 13", "12 of 13"), ""):
            with self.subTest(text=text):
                self.assertRaises(BenchError, parse.check, text)


class Efficiency(unittest.TestCase):
    def test_runs_are_taken_as_one(self):
        got = figures.efficiency([mix(orders=643), mix(orders=600)], 10)
        self.assertAlmostEqual(got.percent, 100 * 1243 / 10 / 128.6, 6)
        self.assertAlmostEqual(got.error, got.percent / 1243**0.5, 6)
        self.assertEqual([round(percent, 1) for percent in got.runs], [100.0, 93.3])

    def test_the_mean_is_judged(self):
        plan = command.Plan(command.parser().parse_args([]))
        for orders, word in ((624, "met"), (623, "missed")):
            found = bench.Found("pgsql", "PostgreSQL")
            found.efficiency = figures.efficiency([mix(orders=orders)], 10)
            self.assertIn(word, report.figures_table([found], plan).splitlines()[2])


class Table(unittest.TestCase):
    PLAN = command.Plan(command.parser().parse_args([]))

    def rows(self, driver="mysql", **found):
        one = bench.Found(driver, "the server")
        for name, value in found.items():
            setattr(one, name, value)
        return report.figures_table([one], self.PLAN).splitlines()[2:]

    def test_nothing_found_is_nothing_shown(self):
        self.assertEqual(self.rows(), [])

    def test_loads_are_judged_by_their_ratio(self):
        def load(seconds):
            return Sample(1, 1.0, 0.0, 0.0, 0, seconds)

        for ours, word in ((12.0, "met"), (12.1, "missed")):
            (row,) = self.rows(loads={TIDEMARK: [load(ours)], "native": [load(10.0)]})
            self.assertRegex(row, rf"≤ 1.2 *\| {word}")

    def test_half_of_what_go_tpc_takes_is_asked(self):
        for driver, microseconds, word in (
            ("pgsql", 255, "met"), ("pgsql", 256, "missed"),
            ("mysql", 400, "met"), ("mysql", 401, "missed"),
        ):
            bare = [Sample(1000, 1.0, 0.02, 0.0, 0, 1.0)]
            mixes = [mix(cpu_s=microseconds * 100 / 1e6)]
            rows = self.rows(driver, mixes=mixes, bare=bare, busy=bare)
            self.assertEqual(len(rows), 3)
            self.assertRegex(rows[2], rf"{microseconds} µs .*\| {word}")

    def test_statements_beside_the_bare_loop(self):
        bare = [Sample(1000, 1.0, 0.02, 0.0, 0, 1.0)]
        for cpu, word in ((0.028, "met"), (0.029, "missed")):
            both = self.rows(mixes=[mix(cpu_s=cpu)], bare=bare, busy=bare, busy_rows=200)[:2]
            for row in both:
                self.assertRegex(row, rf"≤ 1.4 *\| {word}")
            self.assertIn("counting 200 rows", both[1])

    def test_batched_statements_are_judged(self):
        for counts, word in (([20, 20], "met"), ([20, 20, 21], "missed")):
            (row,) = self.rows(new_orders={"batched": counts, "single": [40, 41]})
            self.assertRegex(row, rf"≤ 20 *\| {word}")

    def test_memory_is_judged_only_as_it_was_asked_for(self):
        for rss, word in ((128 << 20, "met"), ((128 << 20) + 1, "missed")):
            (row,) = self.rows(crowds=[mix(rss=rss)])
            self.assertRegex(row, rf"≤ 128 MiB *\| {word}")
        found = bench.Found("mysql", "the server")
        found.crowds = [mix()]
        small = command.Plan(command.parser().parse_args(["--terminals=500"]))
        self.assertNotIn("≤", report.figures_table([found], small))

    def test_a_check_is_told_for_each_warehouse(self):
        (row,) = self.rows(checks={2: [parse.check(CHECK)]})
        self.assertRegex(row, r"0\.76 s .*3\.3\.2\.12, 0\.03 s .*≤ 10 s *\| met")


class Schema(unittest.TestCase):
    MARIADB = """CREATE TABLE `orders` (
  `o_id` int(11) NOT NULL,
  `o_c_id` int(11) DEFAULT NULL,
  PRIMARY KEY (`o_id`),
  UNIQUE KEY `u` (`o_c_id`,`o_id`),
  KEY `idx_order` (`o_c_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COMMENT='tidemark:it''s' ROW_FORMAT=DYNAMIC"""

    def test_mariadb_keys_but_the_primary_are_added_later_and_the_mark_never(self):
        create, indexes = native.mysql_schema("orders", self.MARIADB)
        self.assertIn("PRIMARY KEY (`o_id`) ) ENGINE=InnoDB", create)
        self.assertTrue(create.endswith("ROW_FORMAT=DYNAMIC;"), create)
        self.assertNotIn("tidemark", create)
        self.assertEqual(
            indexes,
            "ALTER TABLE orders ADD UNIQUE KEY `u` (`o_c_id`,`o_id`), "
            "ADD KEY `idx_order` (`o_c_id`);",
        )
        self.assertEqual(native.mysql_schema("t", "CREATE TABLE `t` (\n  `a` int\n) ENGINE=x")[1], "")

    def test_of_a_dump_only_what_makes_something_is_kept(self):
        dump = (
            "--\n-- PostgreSQL database dump\n--\n\\restrict abc\nSET lock_timeout = 0;\n"
            "SELECT pg_catalog.set_config('search_path', '', false);\n"
            "CREATE TABLE public.t (\n    a integer NOT NULL\n);\n\n"
            "ALTER TABLE ONLY public.t\n    ADD CONSTRAINT t_pkey PRIMARY KEY (a);\n"
        )
        self.assertEqual(
            native.statements(dump),
            "CREATE TABLE public.t (\n    a integer NOT NULL\n);"
            "ALTER TABLE ONLY public.t\n    ADD CONSTRAINT t_pkey PRIMARY KEY (a);",
        )


class Files(unittest.TestCase):
    def test_the_largest_table_goes_first_and_none_may_lack(self):
        with tempfile.TemporaryDirectory() as folder:
            for n, table in enumerate(bench.TABLES):
                for part in (0, 1):
                    pathlib.Path(folder, f"a.b.{table}.{part}.csv").write_bytes(b"x" * (n + 1))
            found = native.files(folder, bench.TABLES)
            self.assertEqual(list(found), list(reversed(bench.TABLES)))
            self.assertEqual([p.name for p in found["item"]], ["a.b.item.0.csv", "a.b.item.1.csv"])
            pathlib.Path(folder, "a.b.item.0.csv").unlink()
            pathlib.Path(folder, "a.b.item.1.csv").unlink()
            self.assertRaises(BenchError, native.files, folder, bench.TABLES)

    def test_indexes_follow_the_last_file_of_their_table(self):
        lock, done = threading.Lock(), []

        def note(*what):
            with lock:
                done.append(what)

        found = {"a": [1, 2, 3], "b": [4]}
        native.Jobs(found, note, note).run(3)
        self.assertEqual(len(done), 6)
        for table, files in found.items():
            indexed = done.index((table,))
            self.assertTrue(all(done.index((table, file)) < indexed for file in files), done)

    def test_the_first_error_ends_the_load(self):
        def fail(table, _):
            raise BenchError(table)

        jobs = native.Jobs({"a": list(range(50))}, fail, lambda _: None)
        self.assertRaisesRegex(BenchError, "^a$", jobs.run, 2)
        self.assertGreater(len(jobs.todo), 40)


class Together(unittest.TestCase):
    def test_an_error_is_raised_when_all_have_ended(self):
        ended = types.SimpleNamespace(count=0)

        def fine():
            ended.count += 1

        def bad():
            raise BenchError("one failed")

        self.assertRaisesRegex(BenchError, "one failed", bench.together, [bad, fine, fine])
        self.assertEqual(ended.count, 2)


class Options(unittest.TestCase):
    def test_parts_are_known(self):
        self.assertEqual(command.parts("prepare,new-order"), ["prepare", "new-order"])
        self.assertRaises(argparse.ArgumentTypeError, command.parts, "prepare,other")

    def test_tables_of_a_few_parts_do_not_go_into_the_readme(self):
        for options in (["--smoke"], ["--parts=check"]):
            done = subprocess.run(
                [machine.ROOT / "bench/tpcc", "--write-readme", *options],
                capture_output=True, text=True, timeout=30,
            )
            self.assertEqual(done.returncode, 2, done.stderr)

    def test_the_readme_has_the_markers(self):
        text = (machine.ROOT / "bench/README.md").read_text()
        self.assertIn("new block", replace_block(text, "new block", report.BEGIN, report.END))


if __name__ == "__main__":
    unittest.main()
