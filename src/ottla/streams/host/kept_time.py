"""The numbers that operators keep (stream times), as metadata of a committed offset of the group `application.id`.

A state that is restored from changelogs goes on with them: windows that were closed stay closed.
"""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Final

from ottla.streams.state.local_state import Times

_TIMES: Final = "ottla:"
_METADATA_MAX: Final = 4_096
"""`offset.metadata.max.bytes` of brokers."""


def times_to_text(times: Times) -> str:
    """As metadata of an offset; nothing if it were too long."""
    text = _TIMES + base64.b85encode(zlib.compress(json.dumps(times).encode(), 9)).decode()
    return text if len(text) <= _METADATA_MAX else ""


def times_from_text(text: str) -> Times:
    """The times that `times_to_text` has written; none for metadata of other programs.

    >>> times_from_text(times_to_text({"0_1": {"": (5,)}}))
    {'0_1': {'': (5,)}}
    """
    if not text.startswith(_TIMES):
        return {}
    found: Mapping[str, Mapping[str, list[int]]] = json.loads(zlib.decompress(base64.b85decode(text[len(_TIMES) :])))
    return {task: {name: tuple(numbers) for name, numbers in times.items()} for task, times in found.items()}
