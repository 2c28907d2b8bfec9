"""What benchmarks are built with. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench.machine import build_command


class Builds(unittest.TestCase):
    def test_smoke_tests_build_the_same_whatever_they_run(self):
        # Else each would build the crates that they share once more.
        first = build_command(True, ["tidemark"])
        self.assertEqual(first, build_command(True, ["tidemark-micro", "tidemark-lab"]))
        self.assertNotIn("--profile", first)

    def test_what_is_measured_is_optimised_and_nothing_else_is_built(self):
        command = build_command(False, ["tidemark", "tidemark-lab"])
        self.assertEqual(command[3:5], ["--profile", "dist"])
        self.assertEqual(command[-4:], ["-p", "tidemark", "-p", "tidemark-lab"])


if __name__ == "__main__":
    unittest.main()
