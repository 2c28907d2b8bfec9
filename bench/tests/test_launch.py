"""What is measured of a program. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench import launch
from vs_sysbench.errors import BenchError

MIB = 1 << 20


def python(code, **options):
    options.setdefault("timeout_s", 60)
    return launch.measure([sys.executable, "-ISc", code], **options)


class Memory(unittest.TestCase):
    def test_a_small_program_is_not_shown_with_the_memory_of_this_one(self):
        status = pathlib.Path("/proc/self/status").read_text()
        own = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024
        floor = launch.floor_bytes()
        self.assertGreater(own, 8 * MIB, "this test needs to be larger than what it starts")
        self.assertLess(floor, 4 * MIB)
        self.assertGreater(floor, 0.1 * MIB)

    def test_memory_that_was_touched_and_given_back_is_counted(self):
        used = python("x = bytearray(b'x') * (96 << 20); del x").max_rss_bytes
        self.assertGreater(used, 96 * MIB)
        self.assertLess(used, 160 * MIB)

    def test_it_agrees_with_the_programs_own_high_water_mark(self):
        done = python(
            "x = bytearray(b'x') * (32 << 20); print(open('/proc/self/status').read())"
        )
        own = int(re.search(r"VmHWM:\s+(\d+) kB", done.stdout)[1]) * 1024
        self.assertAlmostEqual(done.max_rss_bytes / own, 1.0, delta=0.05)


    def test_a_program_is_read_from_disk_again(self):
        # Beside this file: what lies in memory alone has no disk to be read from.
        with tempfile.NamedTemporaryFile(dir=pathlib.Path(__file__).parent) as program:
            program.write(b"x" * MIB)
            program.flush()
            self.assertEqual(cached(program.name), MIB)
            launch.read_from_disk([program.name])
            self.assertEqual(cached(program.name), 0)


def cached(path):
    """Bytes of a file that are in the page cache."""
    command = ["fincore", "--bytes", "--noheadings", "--output", "RES", path]
    return int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


class Cpu(unittest.TestCase):
    BURN = "import time\nwhile time.process_time() < 0.5: pass"

    def test_cpu_of_the_program_is_counted(self):
        done = python(self.BURN)
        self.assertGreater(done.user_s + done.system_s, 0.45)
        self.assertLess(done.user_s + done.system_s, 2.0)
        self.assertGreater(done.wall_s, 0.45)

    def test_cpu_of_its_threads_is_counted(self):
        done = python(
            "import threading, time\n"
            "def burn():\n"
            "    while time.thread_time() < 0.2: pass\n"
            "threads = [threading.Thread(target=burn) for _ in range(3)]\n"
            "for t in threads: t.start()\n"
            "for t in threads: t.join()\n"
        )
        self.assertGreater(done.user_s + done.system_s, 0.55)

    def test_waiting_costs_nothing(self):
        done = python("import time; time.sleep(0.5)")
        self.assertGreater(done.wall_s, 0.5)
        self.assertLess(done.user_s + done.system_s, 0.4)


class Ending(unittest.TestCase):
    def test_outputs_and_status_are_the_programs(self):
        done = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
        self.assertEqual((done.stdout, done.stderr, done.status), ("out\n", "err\n", 7))

    def test_arguments_come_through_unchanged(self):
        given = ["a b", "*", "$HOME", "", "'\""]
        done = launch.measure(
            [sys.executable, "-ISc", "import sys; print(sys.argv[1:])", *given], timeout_s=60
        )
        self.assertEqual(done.stdout.strip(), repr(given))

    def test_a_program_that_hangs_is_killed_and_is_an_error(self):
        mark = "tidemark-test-of-a-hanging-program"
        command = [sys.executable, "-ISc", "import time; time.sleep(600)", mark]
        with self.assertRaisesRegex(BenchError, "had not ended after 0.5 s"):
            launch.measure(command, timeout_s=0.5)
        running = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True)
        self.assertNotIn(mark, running.stdout)

    def test_a_program_that_is_not_there_says_so(self):
        done = launch.measure(["/nonexistent/program"], timeout_s=10)
        self.assertEqual(done.status, 127)
        self.assertIn("not found", done.stderr)


if __name__ == "__main__":
    unittest.main()
