"""Kafka's single message transforms and predicates."""
