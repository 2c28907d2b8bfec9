"""bench/clients."""
