"""Benchmarks: they print figures and ratios, and assert nothing (`make bench`, `make bench-quick`)."""
