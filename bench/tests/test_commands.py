"""Commands of documents that build, test and measure: each names what is there, with options it takes.

Those of `tidemark` are run: crates/cli/tests/it/commands_in_documents.rs."""

import pathlib
import re
import shlex
import subprocess
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# ARCHITECTURE.md has a picture alone.
DOCUMENTS = [*(p for p in ROOT.glob("*.md") if p.name != "ARCHITECTURE.md"),
             *ROOT.glob("docs/*.md"), *ROOT.glob("crates/*/README.md"),
             ROOT / "bench/README.md", ROOT / "fuzz/README.md"]
# Programs of others, and what the other test runs.
OTHERS = {"tidemark", "…", "export", "curl", "duckdb", "sqlite3", "rm"}


def commands():
    """(document, words) of each command in a block of a shell's lines."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S):
            if kind not in ("", "sh"):
                continue
            for line in block.splitlines():
                yield path.relative_to(ROOT), line.strip()


def words_of(line):
    inner = re.fullmatch(r'eval "\$\((.*)\)"', line)
    line = (inner[1] if inner else line).split(" && ")[0]
    words = shlex.split(line, comments=True)
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    return words


def wrong(words):
    """What is wrong with a command, or None."""
    program, rest = words[0], words[1:]
    if program in OTHERS:
        return None
    if program.startswith(("scripts/", "bench/")):
        return wrong_script(program, rest)
    if program == "cargo":
        return wrong_cargo(rest)
    if program == "python3":
        folder = ROOT / rest[rest.index("-s") + 1]
        return None if any(folder.glob("test_*.py")) else f"no tests in {folder}"
    return f"unknown program {program}"


def wrong_script(program, rest):
    if not (ROOT / program).is_file():
        return "no such script"
    if "become(" in (ROOT / program).read_text():
        # Its help is that of a program that would have to be built.
        return None if rest == ["--smoke"] else "only --smoke is known here"
    asked = subprocess.run([ROOT / program, "--help"], capture_output=True, text=True, cwd=ROOT)
    if asked.returncode:
        return f"--help ends with {asked.returncode}"
    options = [word.split("=")[0] for word in rest if word.startswith("-")]
    return next((f"{o} is not in its help" for o in options if o not in asked.stdout), None)


def wrong_cargo(rest):
    verb, rest = rest[0], [word for word in rest[1:] if word != "--"]
    if verb == "fuzz":
        target = rest[3]
        return None if (ROOT / f"fuzz/fuzz_targets/{target}.rs").exists() else f"no target {target}"
    if "--profile" in rest:
        profile = rest[rest.index("--profile") + 1]
        profiles = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]
        return None if profile in profiles else f"no profile {profile}"
    if "-p" not in rest:
        return None
    package = rest[rest.index("-p") + 1]
    folder = next((f.parent for f in ROOT.glob("crates/*/Cargo.toml")
                   if f'name = "{package}"' in f.read_text()), None)
    if folder is None:
        return f"no package {package}"
    if "--example" in rest:
        example = rest[rest.index("--example") + 1]
        found = [*folder.glob(f"examples/{example}*")]
        return None if found else f"no example {example}"
    for filter_ in (word for word in rest if word.endswith("::")):
        path = [part for part in filter_.split("::") if part]
        tests = folder / "tests" / "/".join(path)
        if path[0] != "it":
            tests = folder / "tests/it" / "/".join(path)
        if not tests.with_suffix(".rs").exists() and not (tests / "mod.rs").exists():
            return f"no module {filter_}"
    return None


class Commands(unittest.TestCase):
    def test_each_names_what_is_there(self):
        found, checked = [], 0
        for path, line in commands():
            words = words_of(line) if line and not line.startswith("#") else None
            if words:
                checked += 1
                problem = wrong(words)
                if problem:
                    found.append(f"{path}: {line}: {problem}")
        self.assertEqual(found, [])
        self.assertGreater(checked, 40)

    def test_what_is_not_there_is_found(self):
        for line in ("scripts/none", "bench/vs-sysbench --nothing=1", "cargo test -p tidemark-none",
                     "cargo test -p tidemark-core it::none::", "cargo build --profile none", "make"):
            self.assertIsNotNone(wrong(words_of(line)), line)


if __name__ == "__main__":
    unittest.main()
