"""A client's metrics, under Kafka's names."""
