"""The outcome of an operation: records, and the answer to give once they are committed."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from ottla.protocol.coordinator_record import CoordinatorRecord
from ottla.protocol.errors import ApiError

S = TypeVar("S")


class _Deferred:
    """The type of `DEFERRED`."""

    def __repr__(self) -> str:
        return "DEFERRED"


DEFERRED: Final = _Deferred()
"""In place of a response: the operation answers later by itself (a member that waits for others)."""

Settled: TypeAlias = Callable[[ApiError | None], None]
"""Told None once an outcome's records are committed, or why they were lost and the state rolled back."""
Done: TypeAlias = Callable[[Any], None]
"""Gets the response of an operation, or the `ApiError` that it failed with. Called once, maybe within the call."""


class CoordinatorResult(NamedTuple):
    """The outcome of an operation.

    Records of an atomic outcome go into one batch or none; others, such as ten thousand tombstones, may be spread over
    several. `settled` is for soft state that must follow the fate of the records; it is called before the answer.
    """

    records: Sequence[CoordinatorRecord] = ()
    response: Any = None
    settled: Settled | None = None
    is_atomic: bool = True


NOTHING: Final = CoordinatorResult()
"""No record and no answer to speak of: a timer that found nothing to do."""

Operation: TypeAlias = Callable[[S, int], CoordinatorResult]
"""Decides from the newest state and the time in ms; raises an `ApiError` to refuse, and then nothing happened."""
