"""The name of a resource that belongs to one node: its id, written as a number."""

import re
from typing import Final

from ottla.protocol.errors import InvalidRequestError

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_INT32_MAX: Final = 2**31 - 1


def node_id_of(name: str, *, called: str) -> int:
    """The id that `name` spells; INVALID_REQUEST if it spells none. `called` is what the message calls the id.

    >>> node_id_of("7", called="Node id")
    7
    >>> node_id_of("seven", called="Node id")
    Traceback (most recent call last):
    ottla.protocol.errors.request.InvalidRequestError: Node id must be an integer, but it is: seven
    """
    if _NUMBER.fullmatch(name) is None or not -_INT32_MAX - 1 <= int(name) <= _INT32_MAX:
        raise InvalidRequestError(f"{called} must be an integer, but it is: {name}")
    return int(name)
