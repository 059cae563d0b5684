"""What every other package stands on: ids, errors, bytes of text. Nothing in here knows Kafka."""
