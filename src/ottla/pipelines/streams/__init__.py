"""Streams on Spark: `kafka_streams.KafkaStreams` runs a topology as one query, with its state and its changelogs."""
