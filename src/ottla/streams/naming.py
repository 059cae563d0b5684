"""Checks names of nodes, stores and topics: Kafka's rule for topics."""

import re
from typing import Final

from ottla.streams.errors import TopologyError, required

_LENGTH_MAX: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def checked_name(name: str) -> str:
    """The name; `TopologyError` says what is wrong with it.

    >>> checked_name("per-minute")
    'per-minute'
    """
    if not required(name, "name cannot be null"):
        raise TopologyError("Name is illegal, it can't be empty")
    if name in (".", ".."):
        raise TopologyError('Name cannot be "." or ".."')
    if len(name) > _LENGTH_MAX:
        raise TopologyError(f"Name is illegal, it can't be longer than {_LENGTH_MAX} characters, name: {name}")
    if _LEGAL.fullmatch(name) is None:
        raise TopologyError(
            f"Name \"{name}\" is illegal, it contains a character other than ASCII alphanumerics, '.', '_' and '-'"
        )
    return name
