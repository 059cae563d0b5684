"""The result of a call about many things when some of them failed.

Every such call takes `errors`: a dict to fill with what failed, by key. Without it the first failure is raised, with
the others as a note, so that none is overlooked.
"""

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from ottla.base.errors import OttlaError
from ottla.protocol.errors import UnknownServerError, error_for

K = TypeVar("K")
V = TypeVar("V")

_NOTED_MAX: Final = 10


def settle(outcomes: Mapping[K, V | OttlaError], errors: dict[K, OttlaError] | None) -> dict[K, V]:
    """The values of the keys that succeeded; the other keys' errors go into `errors`, or the first is raised.

    >>> from ottla.protocol.errors import GroupIdNotFoundError
    >>> failed = {}
    >>> settle({"a": 1, "b": GroupIdNotFoundError("Group b not found.")}, failed)
    {'a': 1}
    >>> failed
    {'b': GroupIdNotFoundError('Group b not found.')}
    """
    failed = {key: outcome for key, outcome in outcomes.items() if isinstance(outcome, OttlaError)}
    if failed and errors is None:
        raise _raised(failed)
    if errors is not None:
        errors.update(failed)
    return {key: outcome for key, outcome in outcomes.items() if not isinstance(outcome, OttlaError)}


def _raised(failed: Mapping[K, OttlaError]) -> OttlaError:
    (key, error), *others = failed.items()
    error.add_note(f"This is about {key!r}.")
    for other, reason in others[:_NOTED_MAX]:
        error.add_note(f"Also about {other!r}: {reason}")
    if len(others) > _NOTED_MAX:
        error.add_note(f"And {len(others) - _NOTED_MAX} more.")
    return error


def outcome(value: V, code: int, message: str | None = None) -> V | OttlaError:
    """The value where the code says success, else its error."""
    return error_for(code, message) if code else value


def answered(keys: Iterable[K], outcomes: Mapping[K, V | OttlaError]) -> dict[K, V | OttlaError]:
    """The outcomes in the order of the keys; a key that the server said nothing about has failed."""
    missing = "the server's answer says nothing about it"
    return {key: outcomes[key] if key in outcomes else UnknownServerError(missing) for key in keys}
