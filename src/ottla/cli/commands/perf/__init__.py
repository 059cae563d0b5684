"""`ottla perf`: how much, and how fast."""
