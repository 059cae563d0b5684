"""The common part of blocking clients: a thread with an event loop."""
