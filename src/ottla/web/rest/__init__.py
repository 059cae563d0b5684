"""The REST proxy: Kafka over HTTP, with the API of Confluent's proxy in its versions 2 and 3."""
