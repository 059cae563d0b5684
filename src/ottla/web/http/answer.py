"""A handler's answer: a whole body, or parts that leave while they are made."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import field
from typing import Final

from ottla.base.frozen import frozen

TEXT: Final = "text/plain; charset=utf-8"


@frozen
class Answer:
    """A status, a body and its type. Without a type the body has the one that the client accepts."""

    status: int = 200
    body: bytes = b""
    content_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    parts: AsyncIterator[bytes] | None = None
    """In place of a body: pieces that are sent as they come."""


def json_answer(value: object, status: int = 200) -> Answer:
    """A JSON body, compact and in UTF-8.

    >>> json_answer({"id": 1}).body
    b'{"id":1}'
    """
    return Answer(status, json_bytes(value))


def json_bytes(value: object) -> bytes:
    """`value` as compact JSON. Lone surrogates, which JSON can escape and UTF-8 can't hold, stay escaped."""
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()
