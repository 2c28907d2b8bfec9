"""A failed test is run once more, alone, and told; what else fails stays failed."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "once-more"
FAILED = "test b::slow ... FAILED\ntest a ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n"


class OnceMore(unittest.TestCase):
    def again(self, output, command):
        """Exit code, standard output, and the tests that were told to depend on chance."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "output").write_text(output)
            flaky = folder / "flaky"
            # The name stands behind `sh -c COMMAND` and `--exact`.
            ended = subprocess.run(
                [SCRIPT, folder / "output", flaky, "sh", "-c", command],
                capture_output=True,
                text=True,
            )
            told = flaky.read_text().split() if flaky.exists() else []
            return ended.returncode, ended.stdout, told

    def test_what_passes_alone_is_told(self):
        passes = 'test "$0 $1" = "--exact b::slow" && echo "test b::slow ... ok"'
        self.assertEqual(self.again(FAILED, passes)[::2], (0, ["b::slow"]))
        panics = FAILED.replace("b::slow", "b::slow - should panic")
        self.assertEqual(self.again(panics, passes)[::2], (0, ["b::slow"]))

    def test_what_fails_twice_fails(self):
        code, said, told = self.again(FAILED, 'echo "because of this"; exit 101')
        self.assertEqual((code, told), (1, []))
        self.assertIn("because of this", said)

    def test_a_test_that_was_not_found_has_not_passed(self):
        self.assertEqual(self.again(FAILED, "echo running 0 tests")[::2], (1, []))

    def test_more_than_three_are_no_chance(self):
        many = "".join(f"test t{n} ... FAILED\n" for n in range(4)) + "test result: FAILED. 0 passed; 4 failed; 0 ignored\n"
        self.assertEqual(self.again(many, 'echo "test $1 ... ok"')[::2], (1, []))

    def test_a_program_that_died_is_no_failed_test(self):
        passes = 'echo "test $1 ... ok"'
        for died in [
            "",
            "test b::slow ... FAILED\n",
            "     Running one\n" + FAILED + "     Running two\n",
        ]:
            self.assertEqual(self.again(died, passes)[::2], (1, []), died)
        both = "     Running one\n" + FAILED + "     Running two\ntest result: ok. 2 passed; 0 failed; 0 ignored\n"
        self.assertEqual(self.again(both, passes)[::2], (0, ["b::slow"]))

    def test_a_failure_without_a_name_stays_a_failure(self):
        broken = "said something test c ... FAILED\n" + FAILED.replace("; 1 failed", "; 2 failed")
        self.assertEqual(self.again(broken, 'echo "test $1 ... ok"')[::2], (1, []))

    def test_help_and_too_little(self):
        self.assertEqual(subprocess.run([SCRIPT, "--help"], capture_output=True).returncode, 0)
        self.assertEqual(subprocess.run([SCRIPT, "x"], capture_output=True).returncode, 2)
