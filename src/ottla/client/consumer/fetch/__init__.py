"""Records from the brokers to the caller of `poll`."""
