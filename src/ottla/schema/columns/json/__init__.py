"""Columns of JSON documents with a JSON Schema into Arrow and back."""
