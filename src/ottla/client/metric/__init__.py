"""What a client counts about itself, under Kafka's names."""
