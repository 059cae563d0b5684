"""Avro, JSON Schema and Protobuf schemas as values: parsed, printed, normalised, compared. No I/O."""
