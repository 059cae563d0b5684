"""Real clients and a real broker under kill -9; what they saw is recorded and checked: `python -m tests.torture`."""
