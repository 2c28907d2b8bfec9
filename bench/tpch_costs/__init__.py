"""What TPC-H costs with Tidemark."""
