"""The disk as an interface: `port` says what storage needs, `local` does it, `simulated` does it in memory."""
