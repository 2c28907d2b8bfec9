"""What a report of many runs costs."""
