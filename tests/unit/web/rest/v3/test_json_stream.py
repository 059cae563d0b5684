"""A stream cut into objects, wherever the pieces that it comes in are cut."""

import json
import random
from collections.abc import Iterable

import pytest

from ottla.web.rest.v3.json_stream import JsonStream, JsonStreamError

OBJECTS = [
    {"a": 1},
    {},
    {"text": 'brackets }]{[ and quotes " and \\ and \\" ü'},
    [{"nested": [[], {"x": None}]}],
    {"long": "\\" * 50},
]


def cut(data: bytes, sizes: Iterable[int]) -> list[bytes]:
    stream, found, at = JsonStream(10_000), list[bytes](), 0
    for size in sizes:
        found += stream.feed(data[at : at + size])
        at += size
        if at >= len(data):
            break
    assert stream.is_between
    return found


@pytest.mark.parametrize("separator", ["", "\n", " , \r\n"])
def test_any_cut_gives_the_same_objects(separator: str) -> None:
    data = separator.join(json.dumps(each) for each in OBJECTS).encode()
    dice = random.Random(7)
    whole = cut(data, [len(data)])
    assert [json.loads(each) for each in whole] == OBJECTS
    for sizes in ([1] * len(data), *([dice.randint(1, 9) for _ in data] for _ in range(50))):
        assert cut(data, sizes) == whole


def test_a_large_string_is_looked_at_once() -> None:
    stream = JsonStream(3_000_000)
    found = list(stream.feed(b'{"a":"'))
    for _ in range(20_000):
        found += stream.feed(b"x" * 100)
    found += stream.feed(b'"}')
    assert len(found) == 1
    assert len(found[0]) == 2_000_008


def test_what_is_no_object_ends_the_stream() -> None:
    stream = JsonStream(100)
    objects = stream.feed(b'{"a":1} 17 {"b":1}')
    assert next(objects) == b'{"a":1}'
    with pytest.raises(JsonStreamError, match="got 17"):
        next(objects)


def test_an_object_has_a_limit() -> None:
    for data in (b'{"a":"' + b"x" * 200, b'{"a":"' + b"x" * 200 + b'"}'):
        with pytest.raises(JsonStreamError, match="larger than 100 bytes"):
            list(JsonStream(100).feed(data))


def test_an_object_that_has_no_end() -> None:
    stream = JsonStream(100)
    assert list(stream.feed(b'{"a":')) == []
    assert not stream.is_between
