"""What `ottla` prints: tables, colours, progress, JSON, and errors with advice. Nothing here knows a cluster."""
