"""What benchmarks are built with. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import sys
import tomllib
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench import machine
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
        command = build_command(False, ["tidemark-micro"], ["made-up-study"], "release")
        self.assertEqual(command[3:], ["--profile", "release", "-p", "tidemark-micro", "--bin", "made-up-study"])

    def test_only_what_is_not_named_is_built_and_helpers_quickly(self):
        named = pathlib.Path("/opt/tidemark")

        def built(smoke, measured, helpers):
            with mock.patch.object(machine, "build_packages") as build:
                build.side_effect = lambda smoke, packages, names, profile: pathlib.Path("/b", profile)
                found = machine.programs(smoke, measured, helpers)
            return [str(path) for path in found], [call.args[1:] for call in build.call_args_list]

        self.assertEqual(built(False, {"tidemark": named}, {"made-up-study": None}),
                         (["/opt/tidemark", "/b/release/made-up-study"],
                          [(["tidemark-micro"], ["made-up-study"], "release")]))
        self.assertEqual(built(False, {"tidemark": None, "bare-loop": named}, {"tidemark-lab": None}),
                         (["/b/dist/tidemark", "/opt/tidemark", "/b/release/tidemark-lab"],
                          [(["tidemark"], ["tidemark"], "dist"),
                           (["tidemark-lab"], ["tidemark-lab"], "release")]))
        self.assertEqual(built(False, {"tidemark": named}, {"tidemark-lab": named})[1], [])
        # All that a smoke test needs is built at a time.
        self.assertEqual(len(built(True, {"tidemark": None}, {"tidemark-lab": None})[1]), 1)

    def test_programs_are_of_the_packages_that_have_them(self):
        for name, package in machine.PACKAGES.items():
            with self.subTest(name):
                files = [*machine.ROOT.glob("crates/*/Cargo.toml"), *machine.ROOT.glob("bench/*/Cargo.toml")]
                known = [tomllib.loads(file.read_text()) for file in files]
                [bins] = [of["bin"] for of in known if of["package"]["name"] == package]
                self.assertIn(name, [of["name"] for of in bins])


if __name__ == "__main__":
    unittest.main()
