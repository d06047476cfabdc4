"""Benchmarks: each measure beside a baseline of the same run, so that a ratio means something on any machine."""
