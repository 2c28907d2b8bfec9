"""Known bottlenecks on real servers, and whether Tidemark names them."""
