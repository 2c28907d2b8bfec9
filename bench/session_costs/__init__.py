"""What Tidemark takes with very many sessions and terminals, and beyond a bare socket loop."""
