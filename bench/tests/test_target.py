"""Servers named by URL, and secrets in files. Run: python3 -m unittest discover -s bench/tests"""

import pathlib
import stat
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from vs_sysbench import target
from vs_sysbench.errors import BenchError


class Urls(unittest.TestCase):
    def test_all_parts_are_read(self):
        found = target.from_url("mysql://me:p%40ss%3A@db.example:3307/bench", "mysql")
        expected = target.Target("mysql", "db.example", 3307, "me", "p@ss:", "bench")
        self.assertEqual(found, expected)
        self.assertEqual(target.from_url(found.url, "mysql"), found)

    def test_ports_have_defaults(self):
        self.assertEqual(target.from_url("mariadb://u@h/d", "mysql").port, 3306)
        self.assertEqual(target.from_url("postgresql://u@h/d", "pgsql").port, 5432)

    def test_an_ipv6_address_keeps_its_brackets_in_the_url(self):
        found = target.from_url("postgres://u:p@[::1]:5433/d", "pgsql")
        self.assertEqual((found.host, found.port), ("::1", 5433))
        self.assertEqual(found.url, "postgres://u:p@[::1]:5433/d")

    def test_a_url_can_be_read_from_a_file(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("mysql://u:p@h:1/d\n")
            file.flush()
            self.assertEqual(target.from_url(f"@{file.name}", "mysql").password, "p")

    def test_what_can_not_be_measured_is_refused_without_showing_the_password(self):
        for url in [
            "mysql://u:geheim@h/d",
            "postgres://u:geheim@h",
            "postgres://u:geheim@h:0x1/d",
            "postgres://u:geheim@/d",
            "sqlite:geheim.db",
            "postgres://u:geheim%20x@h/d",
            "@/nonexistent/file",
        ]:
            with self.subTest(url=url):
                with self.assertRaises(BenchError) as caught:
                    target.from_url(url, "pgsql")
                self.assertNotIn("geheim", str(caught.exception))
                self.assertIn("--postgres", str(caught.exception))

    def test_a_target_does_not_show_its_password(self):
        self.assertNotIn("geheim", repr(target.from_url("mysql://u:geheim@h/d", "mysql")))


class Files(unittest.TestCase):
    def test_only_the_user_can_read_the_secrets(self):
        server = target.from_url("postgres://u:a:b@h/d".replace("a:b", "a%3Ab"), "pgsql")
        with tempfile.TemporaryDirectory() as folder:
            secrets = target.Secrets(server, folder)
            for path in (secrets.sysbench, secrets.url, secrets.mariadb, secrets.pgpass):
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600, path)
            self.assertIn("pgsql-password=a:b\n", secrets.sysbench.read_text())
            self.assertEqual(secrets.pgpass.read_text(), "*:*:*:*:a\\:b\n")


if __name__ == "__main__":
    unittest.main()
