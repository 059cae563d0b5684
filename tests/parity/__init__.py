"""The same bytes to ours and to Apache Kafka; what either answers is compared, field by field."""
