"""Questions to Kafka Connect's own classes, and their answers: transforms, converters, definitions of settings."""
