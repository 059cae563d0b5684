"""Columns of Protobuf records into Arrow and back."""
