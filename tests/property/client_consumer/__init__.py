"""Properties of the consumer: whatever the log, its readers see the same."""
