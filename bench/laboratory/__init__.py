"""What bench/accuracy is made of."""
