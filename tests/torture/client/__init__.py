"""The clients of a run, each in a process of its own that may be killed at any time."""
