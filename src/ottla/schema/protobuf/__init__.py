"""Protobuf as a schema type: .proto text and descriptors as values, their canonical form and their compatibility."""
