"""The options of the data source, named as those of Spark's Kafka connector: read once, checked, typed."""
