"""Interactive queries: reading the stores of this process, and finding the process that has a key."""
