"""Scheduling: timers, waiting requests, other threads."""
