"""Foreign clients, each told to write and to read the same records."""
