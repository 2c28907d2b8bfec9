"""What importing and auditing cost and find."""
