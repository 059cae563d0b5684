"""What blocking clients share: a thread with an event loop."""
