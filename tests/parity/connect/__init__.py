"""Kafka Connect's REST API: a script of requests, what Kafka Connect 4.3.1 answered, and where ours differ."""
