"""Findings of runs that nothing is wrong with."""
