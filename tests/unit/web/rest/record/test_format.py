"""Keys and values without a schema: their bytes, and what is refused."""

from typing import Any

import pytest

from ottla.client.errors import SerializationError
from ottla.web.http.errors import HttpError
from ottla.web.rest.record.format import EmbeddedFormat, base64_bytes, decode_plain, encode_plain


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (EmbeddedFormat.BINARY, "AP8=", b"\x00\xff"),
        (EmbeddedFormat.JSON, {"ü": [1, None]}, '{"ü":[1,null]}'.encode()),
        (EmbeddedFormat.JSON, "\ud800", b'"\\ud800"'),
        (EmbeddedFormat.STRING, "ü", "ü".encode()),
        (EmbeddedFormat.JSON, None, None),
    ],
)
def test_bytes_there_and_back(kind: EmbeddedFormat, data: Any, expected: bytes | None) -> None:
    assert encode_plain(kind, data) == expected
    assert decode_plain(kind, expected) == data


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (EmbeddedFormat.BINARY, 1, "data=1 is not a base64 string."),
        (EmbeddedFormat.BINARY, "ä", "is not a valid base64 string."),
        (EmbeddedFormat.BINARY, "a===", "is not a valid base64 string."),
        (EmbeddedFormat.STRING, {}, "data={} is not a string."),
    ],
)
def test_what_is_refused(kind: EmbeddedFormat, data: Any, said: str) -> None:
    with pytest.raises(HttpError, match=said) as caught:
        encode_plain(kind, data)
    assert caught.value.status == 400


def test_bytes_that_are_no_json() -> None:
    for data in (b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(SerializationError, match="not JSON"):
            decode_plain(EmbeddedFormat.JSON, data)


def test_base64_may_lack_its_padding() -> None:
    assert [base64_bytes(text) for text in ("", "YWI", "Y W", "YQ=", "Y")] == [b"", b"ab", None, b"a", None]
