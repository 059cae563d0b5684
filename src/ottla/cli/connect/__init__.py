"""`ottla connect`: a worker with its runners, and tools that talk to workers."""
