"""Histograms as records and the laboratory write them, read independently of Tidemark.

`sum:min:max:base64`, nanoseconds; the base64 is HdrHistogram's V2 encoding
(HdrHistogram, "AbstractHistogram.encodeIntoByteBuffer" and "ZigZagLEB128 encoding").
"""

import base64
import math
import struct

from vs_sysbench.errors import BenchError

COOKIE = 0x1C849313
HEADER = struct.Struct(">IIIIQQd")
# Three significant digits: 2048 buckets of one nanosecond, then 1024 of two, of four …
DIGITS = 3
HALF = 1024


class Histogram:
    """Counts by value in nanoseconds."""

    def __init__(self, text):
        try:
            total, low, high, encoded = text.split(":")
            self.sum_ns, self.min_ns, self.max_ns = int(total), int(low), int(high)
            self.counts = list(_counts(base64.b64decode(encoded, validate=True)))
        except (ValueError, IndexError, struct.error) as error:
            raise BenchError(f"a histogram of the record can't be read: {error}") from error
        self.count = sum(count for _, count in self.counts)

    @property
    def mean_ns(self):
        """The mean, of the exact sum; 0 of nothing."""
        return self.sum_ns / self.count if self.count else 0

    def percentile_ns(self, percent):
        """The value that `percent` of all are at or below."""
        if not self.count:
            return 0
        wanted = max(1, math.ceil(percent / 100 * self.count))
        seen = 0
        for value, count in self.counts:
            seen += count
            if seen >= wanted:
                return min(max(value, self.min_ns), self.max_ns)
        return self.max_ns


def _counts(data):
    """(upper edge, count) of each bucket that is not empty."""
    cookie, length, _, digits, lowest, _, _ = HEADER.unpack_from(data)
    if (cookie, digits, lowest) != (COOKIE, DIGITS, 1):
        raise ValueError("not HdrHistogram V2 with three digits of whole nanoseconds")
    at, end, index = HEADER.size, HEADER.size + length, 0
    while at < end:
        number, at = _zig_zag(data, at)
        if number < 0:
            index -= number
            continue
        if number > 0:
            yield _upper_edge(index), number
        index += 1


def _zig_zag(data, at):
    """A signed number in one to nine bytes, and where the next begins."""
    value = shift = 0
    for size in range(1, 10):
        byte = data[at]
        at += 1
        # The ninth byte has no mark of continuation.
        value |= (byte if size == 9 else byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return value >> 1 ^ -(value & 1), at


def _upper_edge(index):
    """The largest value that falls into a bucket."""
    bucket = max(0, index // HALF - 1)
    return ((index - bucket * HALF + 1) << bucket) - 1
