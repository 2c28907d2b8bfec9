"""Tidemark, sysbench, pgbench and the bare socket loop in turn against one server."""
