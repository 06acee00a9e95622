"""Benchmarks, run by hand: `python -m tests.benchmarks`."""
