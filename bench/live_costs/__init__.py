"""What it costs a run's throughput to be watched and kept."""
