"""What other programs take of the processors."""

import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench.others import OtherPrograms

CPU_S = 0.6
SPIN = f"""
import time
while time.process_time() < {CPU_S}: pass
print(flush=True)
time.sleep(60)
"""


class Others(unittest.TestCase):
    """Whatever else the machine does comes on top, so only least figures and differences are sure."""

    def test_a_living_program_counts_unless_it_is_a_named_server(self):
        child = subprocess.Popen([sys.executable, "-c", SPIN], stdout=subprocess.PIPE)
        try:
            began = time.monotonic()
            with OtherPrograms([]) as unnamed, OtherPrograms([child.pid]) as named:
                child.stdout.readline()
            took = time.monotonic() - began
        finally:
            child.kill()
            child.communicate()
        self.assertGreater(unnamed.cores * took, CPU_S / 2)
        self.assertGreater((unnamed.cores - named.cores) * took, CPU_S / 2)

    def test_a_server_that_has_gone_is_no_error(self):
        child = subprocess.Popen([sys.executable, "-c", "pass"])
        child.wait()
        with OtherPrograms([child.pid]) as others:
            pass
        self.assertGreaterEqual(others.cores, 0.0)
