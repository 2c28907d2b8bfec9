"""TPC-C: loading, checking, and what its transactions and terminals take."""
