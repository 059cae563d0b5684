"""What Java does otherwise than Python, where users compare our text with Kafka's."""
