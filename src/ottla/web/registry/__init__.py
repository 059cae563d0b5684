"""The schema registry: state and decisions without I/O, the topic they live in, the election, and the HTTP API."""
