"""Every setting of the clients, under Kafka's names."""
