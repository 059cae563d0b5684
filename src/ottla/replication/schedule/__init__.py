"""When things happen: timers, waiting requests, other threads."""
