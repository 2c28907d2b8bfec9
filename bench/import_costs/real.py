"""Outputs of the real sysbench and pgbench, made on servers of this benchmark's own or the user's."""

import pathlib
import subprocess
import tempfile

from session_costs.command import servers
from vs_sysbench import target
from vs_sysbench.command import dropping
from vs_sysbench.errors import BenchError

from . import stated

# More than a run lasts.
GRACE_S = 120
SYSBENCH = [
    ("oltp_read_write", ["--threads=4", "--percentile=99"]),
    ("oltp_point_select", ["--threads=8", "--percentile=0"]),
    ("oltp_write_only", ["--threads=2", "--rate=20", "--histogram"]),
]
PGBENCH = [
    ("tpcb", ["-c", "4", "-j", "2"]),
    ("select", ["-S", "-M", "prepared", "-c", "8"]),
    ("simple-update", ["-N", "-r", "-c", "2", "-R", "50"]),
]
SBTEST = ["sbtest1"]
PGBENCH_TABLES = ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"]


def outputs(folder, args, say):
    """Runs the tools; their outputs as files in a folder, each beside its expected figures."""
    seconds = 3 if args.smoke else 10
    made = []
    with servers(args, say, []) as urls:
        for driver, url in urls.items():
            server = target.from_url(url, driver)
            with tempfile.TemporaryDirectory(prefix="tidemark-bench.") as secrets:
                secrets = target.Secrets(server, secrets)
                made += _sysbench(folder, server, secrets, seconds, say)
                if driver == "pgsql":
                    made += _pgbench(folder, server, secrets, seconds, say)
    return made


def _sysbench(folder, server, secrets, seconds, say):
    _refuse(server, secrets, SBTEST)
    base = [target.program("sysbench"), f"--config-file={secrets.sysbench}", "--tables=1", "--table-size=1000"]
    made = []
    with dropping(lambda: _run([*base, "oltp_read_write", "cleanup"])):
        _run([*base, "oltp_read_write", "prepare"])
        for name, words in SYSBENCH:
            said = _run([*base, *words, f"--time={seconds}", "--report-interval=1", name, "run"])
            made.append(_keep(folder / f"sysbench-{server.driver}-{name}.txt", said, say))
    return made


def _pgbench(folder, server, secrets, seconds, say):
    _refuse(server, secrets, PGBENCH_TABLES)
    base = [target.program("pgbench"), *target.pg_options(server)]
    env = target.pg_environment(secrets)
    made = []
    drop = f"DROP TABLE IF EXISTS {', '.join(PGBENCH_TABLES)}"
    with dropping(lambda: target.query(server, secrets, drop)):
        _run([*base, "-i", "-q", "-s", "1", server.database], env)
        for name, words in PGBENCH:
            said = _run([*base, *words, "-T", str(seconds), "-P", "1", server.database], env)
            made.append(_keep(folder / f"pgbench-{name}.txt", said, say))
    return made


def _refuse(server, secrets, names):
    """Tables that are there already may be somebody's."""
    found = target.existing_tables(server, secrets, names)
    if found:
        raise BenchError(f"the database {server.database} has {', '.join(sorted(found))} already; name a "
                         "database without such tables")


def _run(command, env=None):
    """What a program says, on both of its outputs."""
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=GRACE_S, check=False)
    if done.returncode != 0:
        raise BenchError(f"{pathlib.Path(command[0]).name} ended with {done.returncode}\n{done.stdout}")
    return done.stdout


def _keep(path, said, say):
    """Writes an output, and what is expected of it beside."""
    path.write_text(said, encoding="utf-8")
    figures = stated.figures(said)
    # A reading that finds nothing proves nothing.
    if len(figures) < 10:
        raise BenchError(f"{path.name} states {len(figures)} figures that are known here\n{said}")
    stated.write(path, figures)
    say(f"{path.name}: {len(figures)} figures")
    return path
