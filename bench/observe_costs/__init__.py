"""What it costs a run that hosts and database are observed."""
