"""What is read from the clients' outputs. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench import parse
from vs_sysbench.errors import BenchError

SYSBENCH = """\
SQL statistics:
    queries performed:
        read:                            129136
        write:                           36888
        other:                           18445
        total:                           184469
    transactions:                        9221   (3071.15 per sec.)
    queries:                             184469 (61439.29 per sec.)
    ignored errors:                      3      (1.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

Latency (ms):
         min:                                    0.91
         avg:                                    2.60
         max:                                   31.20
         95th percentile:                        5.18
         sum:                                23974.60

"""
SHOWN = """\
oltp_point_select on MariaDB 10.11.6
  Transactions/s         12,345
  Average                1.23 ms
  Median                 1.11 ms
  95th percentile        2.34 ms
"""
PGBENCH = """\
transaction type: <builtin: select only>
scaling factor: 1
query mode: prepared
number of clients: 16
number of threads: 2
maximum number of tries: 1
duration: 10 s
number of transactions actually processed: 493514
number of failed transactions: 0 (0.000%)
latency average = 0.323 ms
initial connection time = 61.340 ms
tps = 49577.842374 (without initial connection time)
"""


class Parse(unittest.TestCase):
    def test_latencies_and_what_they_account_for(self):
        found = parse.latency(SYSBENCH, 8)
        self.assertAlmostEqual(found.mean_ms, 2.6, 6)
        self.assertEqual((found.per_second, found.p95_ms), (3071.15, 5.18))
        # Little's law: 3071.15/s × 2.6 ms are 7.985 sessions of 8.
        self.assertAlmostEqual(found.accounted, 0.99812, 4)
        own = parse.shown(SHOWN, 16)
        self.assertEqual((own.per_second, own.mean_ms, own.p95_ms), (12345.0, 1.23, 2.34))
        with self.assertRaises(BenchError):
            parse.latency(SYSBENCH.replace("sum:", "total:"), 8)

    def test_sysbench_gives_queries_and_their_rate(self):
        self.assertEqual(parse.sysbench(SYSBENCH), (184469, 61439.29))

    def test_a_long_count_that_touches_its_bracket_is_read(self):
        line = "    queries:                             12345678(59478.08 per sec.)\n"
        self.assertEqual(parse.sysbench(line), (12345678, 59478.08))

    def test_pgbench_gives_transactions_and_their_rate(self):
        self.assertEqual(parse.pgbench(PGBENCH), (493514, 49577.842374))

    def test_the_bare_loop_gives_queries_and_their_rate(self):
        self.assertEqual(parse.bare_loop('{"queries": 300, "seconds": 1.5}\n'), (300, 200.0))

    def test_what_is_no_result_is_an_error(self):
        for reader, text in [
            (parse.sysbench, ""),
            (parse.sysbench, SYSBENCH + SYSBENCH),
            (parse.sysbench, "FATAL: error 2002\n" + SYSBENCH),
            (parse.sysbench, SYSBENCH.replace("184469 (", "0      (")),
            (parse.pgbench, "pgbench: error: connection failed"),
            (parse.pgbench, PGBENCH.replace("transactions: 0", "transactions: 7")),
            (parse.pgbench, PGBENCH.replace("493514", "0")),
            (parse.bare_loop, ""),
            (parse.bare_loop, "[1]"),
            (parse.bare_loop, '{"queries": 0, "seconds": 1.0}'),
        ]:
            with self.subTest(reader=reader.__name__, text=text[:60]):
                self.assertRaises(BenchError, reader, text)


if __name__ == "__main__":
    unittest.main()
