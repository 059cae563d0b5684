"""A Connect worker: Kafka Connect's REST API, its three topics, and the decisions of the one worker that leads."""
