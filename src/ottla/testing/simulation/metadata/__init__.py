"""The world of the metadata: controllers, brokers, and clients that change topics and settings."""
