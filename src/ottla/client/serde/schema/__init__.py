"""Serializers whose schemas a registry keeps: Avro, Protobuf and JSON Schema, in the framing of Confluent's."""
