"""Figures that outputs state, read from their text by expressions of this file's own: what importing has to
take over. It shares nothing with the program."""

import dataclasses
import json
import re

NUMBER = r"(\d+(?:\.\d+)?)"
# Lines, and what their figures are called in a record, each with the factor to its unit.
PATTERNS = [
    # sysbench since 1.0
    (rf"\[ {NUMBER}s \] thds: {NUMBER} tps: {NUMBER} qps: {NUMBER} \(r/w/o: {NUMBER}/{NUMBER}/{NUMBER}\) "
     rf"lat \(ms,\d+%\): {NUMBER} err/s: {NUMBER} reconn/s: {NUMBER}",
     ["end_s", "sessions", "rate", "statement_rate", "read_rate", "write_rate", "other_rate", "percentile_ms",
      "error_rate", "reconnect_rate"]),
    # pgbench since 14
    (rf"progress: {NUMBER} s, {NUMBER} tps, lat {NUMBER} ms stddev {NUMBER}(?:, .*)?",
     ["end_s", "rate", "mean_ms", "stddev_ms"]),
    (rf"number of transactions actually processed: {NUMBER}(?:/\d+)?", ["count"]),
    (rf"number of failed transactions: {NUMBER} \(.*\)", ["failed"]),
    (rf"latency average = {NUMBER} ms", ["mean_ms"]),
    (rf"latency stddev = {NUMBER} ms", ["stddev_ms"]),
    (rf"initial connection time = {NUMBER} ms", ["connecting_ms"]),
    (rf"tps = {NUMBER} \(without initial connection time\)", ["rate"]),
    # go-ycsb and go-tpc
    (rf"[A-Z_]+ *- Takes\(s\): {NUMBER}, Count: {NUMBER}, OPS: {NUMBER}, Avg\(us\): {NUMBER}, .*",
     [None, "count", "rate", ("mean_ms", 1e-3)]),
    (rf"\[Summary\] [A-Z_]+(?<!_ERR) *- Takes\(s\): {NUMBER}, Count: {NUMBER}, TPM: {NUMBER}, "
     rf"Sum\(ms\): {NUMBER}, Avg\(ms\): {NUMBER}, .*",
     ["elapsed_s", "count", "per_minute", "sum_ms", "mean_ms"]),
]
# Lines of sysbench's summary: alone, their labels are those of many a file of settings.
HEADING = re.compile(r"(?:SQL|General) statistics:|Latency \(ms\):|Threads fairness:")
BELOW = 10
SUMMARY = [
    (rf" +read: +{NUMBER}", ["read"]),
    (rf" +write: +{NUMBER}", ["write"]),
    (rf" +other: +{NUMBER}", ["other"]),
    (rf" +total: +{NUMBER}", ["statement_sum"]),
    (rf" +transactions: +{NUMBER} +\({NUMBER} per sec\.\)", ["count", "rate"]),
    (rf" +queries: +{NUMBER} +\({NUMBER} per sec\.\)", ["statements", "statement_rate"]),
    (rf" +ignored errors: +{NUMBER} +\({NUMBER} per sec\.\)", ["ignored_errors", "ignored_error_rate"]),
    (rf" +reconnects: +{NUMBER} +\({NUMBER} per sec\.\)", ["reconnects", "reconnect_rate"]),
    (rf" +total time: +{NUMBER}s", ["elapsed_s"]),
    (rf" +total number of events: +{NUMBER}", ["events"]),
    (rf" +min: +{NUMBER}", ["min_ms"]),
    (rf" +avg: +{NUMBER}", ["mean_ms"]),
    (rf" +max: +{NUMBER}", ["max_ms"]),
    (rf" +sum: +{NUMBER}", ["sum_ms"]),
    (rf" +events \(avg/stddev\): +{NUMBER}/{NUMBER}", ["events_avg", "events_stddev"]),
    (rf" +execution time \(avg/stddev\): +{NUMBER}/{NUMBER}", ["time_avg_s", "time_stddev_s"]),
]
PERCENTILE = re.compile(rf" +(\d+)th percentile: +{NUMBER}")


def _compiled(patterns):
    return [(re.compile(pattern), names) for pattern, names in patterns]


ANYWHERE, IN_SUMMARY = _compiled(PATTERNS), _compiled(SUMMARY)


@dataclasses.dataclass(frozen=True)
class Stated:
    """A figure, by its line from 1 and its name in a record."""

    line: int
    name: str
    value: float


def figures(text):
    """Every figure of the lines that are known here."""
    found, heading = [], -BELOW
    for line, words in enumerate(text.split("\n"), start=1):
        words = words.rstrip("\r ")
        if HEADING.fullmatch(words):
            heading = line
        known = ANYWHERE + (IN_SUMMARY if line - heading <= BELOW else [])
        found += _of_line(line, words, known)
    return found


def _of_line(line, words, known):
    percentile = PERCENTILE.fullmatch(words)
    # One that is switched off is printed as zero.
    if percentile and float(percentile[2]) > 0:
        return [Stated(line, f"p{percentile[1]}_ms", float(percentile[2]))]
    for pattern, names in known:
        match = pattern.fullmatch(words)
        if match:
            pairs = [(name if isinstance(name, tuple) else (name, 1), value)
                     for name, value in zip(names, match.groups())]
            return [Stated(line, name, float(value) * factor) for (name, factor), value in pairs
                    if name and (name != "percentile_ms" or float(value) > 0)]
    return []


def data_file(output):
    """Where an output's expected figures stand."""
    return output.with_name(output.name + ".figures.json")


def write(output, stated):
    """Writes expected figures beside their output."""
    rows = [[one.line, one.name, one.value] for one in stated]
    data_file(output).write_text(json.dumps(rows), encoding="utf-8")


def expected(output):
    """An output's figures: of its data file, or as they are read here."""
    data = data_file(output)
    if data.is_file():
        return [Stated(*row) for row in json.loads(data.read_text(encoding="utf-8"))]
    return figures(output.read_text(encoding="utf-8", errors="replace"))
