"""Values as Kafka's tools print them."""
