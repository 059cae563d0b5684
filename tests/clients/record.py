"""A record as every client sees it, and the ones that clients and servers get wrong."""

import time
from typing import NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


class Record(NamedTuple):
    """What a producer hands over and a consumer gets back."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = 0


def tricky_records() -> list[Record]:
    """Null and empty, repeated headers in order, header values of all kinds, old times, bytes that are no text."""
    now = int(time.time() * 1000)
    return [
        Record(b"key", b"value", (), now),
        Record(None, b"no key", (), now + 1),
        Record(b"", b"empty key", (), now + 2),
        Record(b"tombstone", None, (), now + 3),
        Record(b"empty value", b"", (), now + 4),
        Record(b"headers", b"v", (("a", b"1"), ("b", b"2"), ("a", b"3")), now + 5),
        Record(b"odd headers", b"v", (("empty", b""), ("null", None), ("größe", bytes(range(256)))), now + 6),
        Record(bytes(range(256)), bytes(range(255, -1, -1)), (), now + 7),
        Record(b"long ago", b"1970", (), 1),
        Record(b"big", bytes(300_000), (), now + 8),
        *(Record(b"%d" % number, b"value %d" % number * 5, (), now + 9 + number) for number in range(200)),
    ]
