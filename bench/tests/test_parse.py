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
