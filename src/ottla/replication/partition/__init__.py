"""One partition on this broker. Pure: no event loop, no threads, no clock of its own."""
