"""YCSB: what an operation takes from the client's processor."""
