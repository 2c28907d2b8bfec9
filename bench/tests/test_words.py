"""The words that users read: no odd phrase, and both languages say the same."""

import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GLOSSARY = tomllib.loads((ROOT / "crates/texts/glossary.toml").read_text(encoding="utf-8"))
TRANSLATED = ["crates/analysis", "crates/report", "crates/cli", "crates/live"]
# Crates that no user meets.
FOR_TESTS = {"fuzzing", "lab", "testkit", "texts"}
# Documents whose words are older, or those of other programs.
OTHER = {"CHANGELOG.md", "fuzz/README.md"}

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|\'(?:\\.[^\']*|[^\\\'])\'', re.S)
# Help of options whose grammar is a struct's.
HELP = re.compile(r"^\s*/// (.*)$", re.M)
HELP_FILES = ["args.rs", "args/keeping.rs", "args/tools.rs", "study/args.rs"]


def literals(source):
    """The strings of a Rust file without its tests, as (line, text)."""
    source = source.split("#[cfg(test)]\nmod tests {")[0]
    for match in TOKEN.finditer(source):
        token = match.group(0)
        if token.startswith(("//", "/*", "'")):
            continue
        body = token[token.index('"') + 1:token.rindex('"')]
        body = re.sub(r"\\\n\s*", "", body)
        # A phrase has blanks; a name has none.
        if " " in body:
            yield source.count("\n", 0, match.start()) + 1, body


def texts(path):
    """The texts of a translation by section and key."""
    sections = tomllib.loads(path.read_text(encoding="utf-8"))
    return {(name, key): text for name, keys in sections.items() for key, text in keys.items()}


def places(text):
    """The names that a text uses, and those of them that are values and not words' numbers."""
    return set(re.findall(r"\{(\w+)", text)), set(re.findall(r"\{(\w+)\}", text))


def without_code(text):
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)


def sources():
    for path in sorted((ROOT / "crates").glob("*/src/**/*.rs")):
        crate = path.relative_to(ROOT / "crates").parts[0]
        if crate not in FOR_TESTS and "tests" not in path.relative_to(ROOT).as_posix():
            yield path


def read_by_users():
    """Everything that users read, as (where, text)."""
    for path in sources():
        for line, text in literals(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(ROOT)}:{line}", text
    for name in HELP_FILES:
        path = ROOT / "crates/cli/src" / name
        source = path.read_text(encoding="utf-8")
        for match in HELP.finditer(source):
            yield f"{path.relative_to(ROOT)}:{source.count(chr(10), 0, match.start()) + 1}", match[1]
    for crate in TRANSLATED:
        for lang in ("en", "zh"):
            path = ROOT / crate / f"texts/{lang}.toml"
            for (section, key), text in texts(path).items():
                yield f"{path.relative_to(ROOT)} {section}.{key}", text
    for path in sorted((ROOT / "crates/cli/tests/cmd").glob("*.trycmd")):
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "bench/README.md",
                 *(ROOT / "examples/reports").glob("*.md"), *(ROOT / "crates").glob("*/README.md")]
    for path in sorted(documents):
        name = str(path.relative_to(ROOT))
        if name not in OTHER:
            yield name, without_code(path.read_text(encoding="utf-8"))


def banned(text, phrases):
    """Those of the phrases that the text has, each between the ends of words."""
    # A value's name is not read.
    flat = " ".join(re.sub(r"\{\w*\}", "{}", text).lower().split())
    for phrase in phrases:
        at = flat.find(phrase)
        while at >= 0:
            before, after = flat[:at][-1:], flat[at + len(phrase):][:1]
            if not (phrase.isascii() and (before.isalpha() or after.isalpha())):
                yield phrase, flat[max(0, at - 40):at + len(phrase) + 40]
                break
            at = flat.find(phrase, at + 1)


class Glossary(unittest.TestCase):
    def test_no_banned_phrase_is_left(self):
        phrases = {**GLOSSARY["en"], **GLOSSARY["zh"]}
        found = [f"{where}: {phrase!r}, write {phrases[phrase]!r}: …{near}…"
                 for where, text in read_by_users() for phrase, near in banned(text, phrases)]
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_what_is_banned_would_be_found(self):
        for phrase in [*GLOSSARY["en"], *GLOSSARY["zh"]]:
            self.assertEqual([p for p, _ in banned(f"x {phrase} y", [phrase])], [phrase])
        self.assertEqual(list(banned("tomorrow a runner", ["row a run"])), [])
        everything = list(read_by_users())
        self.assertGreater(len(everything), 3000)
        for part in ("crates/engine/src/", "crates/report/texts/zh.toml", "crates/cli/texts/zh.toml", "docs/adr/", "README.zh"):
            self.assertTrue(any(part in where for where, _ in everything), part)


class Languages(unittest.TestCase):
    def test_each_text_has_both_languages_with_the_same_values(self):
        for crate in TRANSLATED:
            en, zh = (texts(ROOT / crate / f"texts/{lang}.toml") for lang in ("en", "zh"))
            self.assertEqual(set(en), set(zh), crate)
            for key, text in en.items():
                (all_en, values_en), (all_zh, values_zh) = places(text), places(zh[key])
                self.assertLessEqual(values_en, all_zh, (crate, key))
                self.assertLessEqual(values_zh, all_en, (crate, key))

    def test_each_is_in_its_own_language(self):
        han = re.compile(r"[\u4e00-\u9fff]")
        # Names, numbers and signs alone are the same in both.
        word = re.compile(r"[a-z]{4,}")
        for crate in TRANSLATED:
            for key, text in texts(ROOT / crate / "texts/en.toml").items():
                self.assertIsNone(han.search(text), (crate, key))
                other = texts(ROOT / crate / "texts/zh.toml")[key]
                plain = re.sub(r"\{[^}]*\}", "", text)
                if len(word.findall(plain)) > 2:
                    self.assertIsNotNone(han.search(other), (crate, key))


if __name__ == "__main__":
    unittest.main()
