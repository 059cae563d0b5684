"""Keys of paths by their serde, and values as JSON."""

import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from ottla.streams import Serdes, Window, Windowed
from ottla.web.http.errors import HttpError
from ottla.web.streams.value import key_of, shown


@dataclass
class Point:
    x: int
    tag: bytes


@pytest.mark.parametrize(
    ("serde", "text", "key"),
    [
        (Serdes.string(), "1", "1"),
        (Serdes.integer(), "-7", -7),
        (Serdes.double(), "1.5", 1.5),
        (Serdes.boolean(), "true", True),
        (Serdes.bytes(), "YWI=", b"ab"),
        (Serdes.uuid(), str(uuid.UUID(int=5)), uuid.UUID(int=5)),
        (Serdes.json(), '{"a": 1}', {"a": 1}),
    ],
)
def test_a_key_is_what_its_serde_takes(serde: Any, text: str, key: Any) -> None:
    assert key_of(serde, text) == key


@pytest.mark.parametrize("serde", [Serdes.long(), Serdes.boolean(), Serdes.bytes(), Serdes.uuid(), Serdes.json()])
def test_a_text_that_is_no_key_is_refused(serde: Any) -> None:
    with pytest.raises(HttpError, match="is no key of this store") as caught:
        key_of(serde, "no, none")
    assert caught.value.status == 400


def test_values_become_json() -> None:
    assert shown(Windowed("k", Window(1, 2))) == {"key": "k", "start": 1, "end": 2}
    assert shown([Point(1, b"a"), uuid.UUID(int=5)]) == [{"x": 1, "tag": "YQ=="}, str(uuid.UUID(int=5))]
    assert shown({1: (None, True)}) == {"1": [None, True]}
