"""Serializers and deserializers: between values and bytes. `serializer` says what they look like."""
