"""The base of every other package: ids, errors, bytes of text. Nothing in here knows Kafka."""
