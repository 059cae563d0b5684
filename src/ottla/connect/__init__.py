"""Kafka Connect's meaning: data, converters, transforms, configuration and connector interfaces. No Spark, no HTTP."""
