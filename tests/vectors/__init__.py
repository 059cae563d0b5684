"""What Apache Kafka's own classes wrote; see README.md."""
