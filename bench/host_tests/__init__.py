"""Tests of the machine: Tidemark beside sysbench."""
