"""The documents: links resolve, they stay short and plain, and both READMEs say the same."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGLISH = ROOT / "README.md"
CHINESE = ROOT / "README.zh-CN.md"
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DECISIONS = sorted((ROOT / "docs/adr").glob("*.md"))
CRATES = sorted((ROOT / "crates").glob("*/README.md"))
LIMITED = [ENGLISH, CHINESE, ARCHITECTURE, CONTRIBUTING,
           *sorted((ROOT / "docs").rglob("*.md")), *CRATES]
EXAMPLES = ROOT / "examples/reports/README.md"
ALL = [*LIMITED, ROOT / "CHANGELOG.md", ROOT / "bench/README.md", ROOT / "fuzz/README.md", EXAMPLES]
# CHANGELOG.md and fuzz/README.md are older texts, which are not judged by their words.
PLAIN = [*LIMITED, ROOT / "bench/README.md", EXAMPLES]

BANNED = [
    "tells what the numbers mean",
    "two commands to a measurement",
    "that is none to try again",
    "is no limit, and",
    "should be told",
    "gently, or as many as there can be",
    "is its own affair",
    "and `--replace` insists",
    "the option is to blame",
    "looked at again",
    "as text it would be another one",
    "is to be chosen?",
    "give a statement and its session up",
    "the mark is believed",
    "ends when the transactions in progress do",
    "once more ends at once",
    "what is to be said of it",
    "has no use for it: leave it out",
    "which was left as it is; name a new file",
    "what stands behind the host",
    "an error that the run went on after",
    "told from none",
    "no run bears the tag",
    "of which script?",
    "is that of no load",
    "errors passed over",
    "passed over, most by",
    "opened again",
    "taken back",
    "objective kept",
    "keeps the objective",
    "row a run",
    "private server of",
]


def text_of(path):
    return path.read_text(encoding="utf-8")


def words(text):
    """Tokens between blanks that have a letter or a digit: bars of tables are no words."""
    return sum(1 for token in text.split() if re.search(r"\w", token))


def code_blocks(text):
    return re.findall(r"^```.*?^```", text, flags=re.M | re.S)


def prose(text):
    """Without code blocks, in which # and [ ] mean something else."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def headings(text):
    return re.findall(r"^(#+) (.+)$", prose(text), flags=re.M)


def anchor(heading):
    """GitHub's anchor of a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def links(text):
    text = re.sub(r"`[^`\n]*`", "", prose(text))
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in link]


def commands(text):
    """Commands in code blocks, and those in the rows of tables."""
    inline = [c for row in re.findall(r"^\|.*$", text, flags=re.M)
              for c in re.findall(r"`((?:tidemark|scripts|cargo)[^`]+)`", row)]
    return code_blocks(text), inline


class Readmes(unittest.TestCase):
    def test_both_have_the_same_commands(self):
        self.assertEqual(commands(text_of(ENGLISH)), commands(text_of(CHINESE)))
        self.assertGreater(len(code_blocks(text_of(ENGLISH))), 3)

    def test_both_have_the_same_headings(self):
        levels = [[len(level) for level, _ in headings(text_of(p))] for p in (ENGLISH, CHINESE)]
        self.assertEqual(*levels)

    def test_both_link_to_the_same_places(self):
        other = {"README.md", "README.zh-CN.md"}
        there = [[x for x in links(text_of(p)) if x not in other] for p in (ENGLISH, CHINESE)]
        self.assertEqual(*there)


class Links(unittest.TestCase):
    def test_relative_links_resolve(self):
        broken = []
        for path in ALL:
            for link in links(text_of(path)):
                file, _, fragment = link.partition("#")
                target = (path.parent / file).resolve() if file else path
                if not target.exists():
                    broken.append(f"{path.relative_to(ROOT)}: {link}")
                elif fragment and target.suffix == ".md":
                    known = {anchor(h) for _, h in headings(text_of(target))}
                    if fragment not in known:
                        broken.append(f"{path.relative_to(ROOT)}: {link}")
        self.assertEqual(broken, [])

    def test_every_crate_has_a_page(self):
        folders = {p.parent for p in (ROOT / "crates").glob("*/Cargo.toml")}
        self.assertEqual(folders, {p.parent for p in CRATES})


class Length(unittest.TestCase):
    def assertShort(self, path, most):
        self.assertLessEqual(words(text_of(path)), most, path.relative_to(ROOT))

    def test_each_stays_short(self):
        for path in (ENGLISH, CHINESE):
            self.assertShort(path, 1400)
            self.assertLessEqual(len(text_of(path).splitlines()), 120)
        self.assertShort(ARCHITECTURE, 900)
        for path in DECISIONS:
            self.assertShort(path, 200)
        for path in CRATES:
            self.assertLessEqual(len(text_of(path).splitlines()), 40, path)

    def test_the_examples_page_is_ten_to_thirty_lines(self):
        self.assertIn(len(text_of(EXAMPLES).splitlines()), range(10, 31))

    def test_all_together_stay_short(self):
        self.assertLessEqual(sum(words(text_of(path)) for path in LIMITED), 20_000)

    def test_a_decision_has_its_parts(self):
        for path in DECISIONS:
            text = text_of(path)
            for part in ("**Context.**", "**Decision.**", "**Evidence.**", "**Revisit when**"):
                self.assertIn(part, text, path.name)
            self.assertTrue(text.startswith(f"# {int(path.name[:4])}. "), path.name)


class Words(unittest.TestCase):
    def test_no_odd_phrase_is_left(self):
        found = [f"{path.relative_to(ROOT)}: {phrase}" for path in PLAIN for phrase in BANNED
                 if phrase in " ".join(text_of(path).lower().split())]
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
