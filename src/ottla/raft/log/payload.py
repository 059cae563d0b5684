"""Record bytes as they come out of a response."""

from ottla.protocol.field import Records


def received_bytes(records: Records | None) -> bytes:
    """The bytes of a decoded `records` field, where nothing is the same as no bytes."""
    if records is None:
        return b""
    if not isinstance(records, bytes | bytearray | memoryview):
        raise TypeError("a response that was received holds bytes, not a file")
    return bytes(records)
