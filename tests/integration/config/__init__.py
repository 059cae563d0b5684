"""Settings as Apache Kafka itself has and describes them."""
