"""What went wrong, in words for the user."""


class BenchError(Exception):
    """The benchmark can't go on; the text says why and what helps."""
