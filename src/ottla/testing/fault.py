"""Faults that a broker for tests commits on demand, as a test asks for them: what, to which requests, how often."""

import dataclasses
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from ottla.base.frozen import frozen

if TYPE_CHECKING:
    from ottla.protocol.api_key import ApiKey
    from ottla.protocol.errors import ErrorCode


class FaultKind(Enum):
    """The effect of a fault on a request."""

    DROP = "drop"
    DELAY = "delay"
    ERROR = "error"
    DISCONNECT = "disconnect"
    LOSE_ANSWER = "lose_answer"


@frozen(kw_only=True)
class FaultRule:
    """One fault, and which requests it is for."""

    kind: FaultKind
    api: int
    count: int | None = 1
    """How many requests it meets; None for all until the faults are cleared."""
    client_id: str | None = None
    """Meets requests of this client alone."""
    delay_s: float = 0.0
    error: int = 0

    def to_json(self) -> dict[str, Any]:
        """The fault as JSON values."""
        return dataclasses.asdict(self) | {"kind": self.kind.value}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "FaultRule":
        """The opposite of `to_json`."""
        return cls(**(values | {"kind": FaultKind(values["kind"])}))


class Fault:
    """A fault that was asked for, to see whether it has happened."""

    def __init__(self, rule: FaultRule, read_hits: Callable[[], int]) -> None:
        self.rule = rule
        self._read_hits = read_hits

    @property
    def hits(self) -> int:
        """How many requests it has met so far."""
        return self._read_hits()


class Faults:
    """The faults of one broker. All methods return at once; what they ask for happens to requests that come later.

    Several faults for the same request: the one that was asked for first. `api` is an `ApiKey` or Kafka's name of the
    call, `"InitProducerId"`; an error is an `ErrorCode` or its name. `count` is the number of requests that are met,
    None all of them until `clear`; with `client_id` only that client's are. A restart clears them all.
    """

    def __init__(self, add: Callable[[FaultRule], Fault], clear: Callable[[], None]) -> None:
        self._add = add
        self._clear = clear

    def drop(self, api: "ApiKey | str", *, count: int | None = 1, client_id: str | None = None) -> Fault:
        """Requests are neither carried out nor answered.

        The connection stays open, and nothing behind such a request on it is served, as with a broker that hangs: the
        client goes on when its own time-out ends.
        """
        return self._ask(FaultKind.DROP, api, count, client_id)

    def delay(
        self, api: "ApiKey | str", *, seconds: float, count: int | None = 1, client_id: str | None = None
    ) -> Fault:
        """Requests are carried out after a while only, in the broker's time: `broker.clock` may shorten it."""
        return self._ask(FaultKind.DELAY, api, count, client_id, delay_s=seconds)

    def error(
        self, api: "ApiKey | str", error: "ErrorCode | str", *, count: int | None = 1, client_id: str | None = None
    ) -> Fault:
        """Requests are refused with an error, in each place where a response of that call has one.

        A request that wants no answer (Produce with acks=0) loses its connection instead.
        """
        return self._ask(FaultKind.ERROR, api, count, client_id, error=int(find_error(error)))

    def disconnect(self, api: "ApiKey | str", *, count: int | None = 1, client_id: str | None = None) -> Fault:
        """Connections are closed when such a request comes; it is not carried out."""
        return self._ask(FaultKind.DISCONNECT, api, count, client_id)

    def lose_answer(self, api: "ApiKey | str", *, count: int | None = 1, client_id: str | None = None) -> Fault:
        """Requests are carried out, but the connection is closed in the place of the answer: was it done or not?"""
        return self._ask(FaultKind.LOSE_ANSWER, api, count, client_id)

    def clear(self) -> None:
        """Ends all faults; requests that were dropped stay unanswered, and delays that began are waited for."""
        self._clear()

    def _ask(
        self, kind: FaultKind, api: "ApiKey | str", count: int | None, client_id: str | None, **more: Any
    ) -> Fault:
        if count is not None and count < 1:
            raise ValueError(f"a fault for {count} requests")
        return self._add(FaultRule(kind=kind, api=int(find_api(api)), count=count, client_id=client_id, **more))


def find_api(api: "ApiKey | str") -> "ApiKey":
    """A call by its key or name.

    >>> find_api("InitProducerId").name, find_api("PRODUCE").name
    ('INIT_PRODUCER_ID', 'PRODUCE')
    >>> find_api("Prodce")
    Traceback (most recent call last):
    ValueError: Prodce is no ApiKey; did you mean PRODUCE?
    """
    from ottla.protocol.api_key import ApiKey

    return _named(ApiKey, api) if isinstance(api, str) else ApiKey(api)


def find_error(error: "ErrorCode | str") -> "ErrorCode":
    """An error by its code or name.

    >>> int(find_error("NOT_LEADER_OR_FOLLOWER"))
    6
    """
    from ottla.protocol.errors import ErrorCode

    return _named(ErrorCode, error) if isinstance(error, str) else ErrorCode(error)


def _named(of: Any, name: str) -> Any:
    wanted = name.replace("_", "").casefold()
    for member in of:
        if member.name.replace("_", "").casefold() == wanted:
            return member
    import difflib

    near = difflib.get_close_matches(name.upper(), [member.name for member in of], n=1)
    raise ValueError(f"{name} is no {of.__name__}" + (f"; did you mean {near[0]}?" if near else ""))
