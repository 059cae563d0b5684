"""The reader's half of an incremental fetch session (KIP-227), which consumers and followers share.

The first request is a full one (epoch 0). If the node grants a session, epochs count up from 1 and a request names only
what changed since the last one, and what is to be forgotten. Any doubt starts again with a full request; one that
carries the old session's id ends that session at the node, too.

wanted {a-0: 5}, granted session 9 -> wanted {a-0: 8, b-0: 0}: epoch 1 with both -> wanted {b-0: 0}: epoch 2, nothing
but a-0 to forget.
"""

from collections.abc import Hashable, Mapping
from typing import Final, Generic, Protocol, TypeVar

from ottla.base.ids import Uuid

NO_SESSION: Final = 0
INITIAL_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = 2**31 - 1


def next_epoch(epoch: int) -> int:
    """The epoch of the request after one with this epoch.

    >>> next_epoch(0), next_epoch(2**31 - 1)
    (1, 1)
    """
    return 1 if epoch == _EPOCH_MAX else epoch + 1


class Target(Protocol):
    """What is wanted of a partition."""

    @property
    def topic_id(self) -> Uuid:
        """The topic that is meant: one made anew under its name has another."""
        ...


K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Target)


class SessionReader(Generic[K, T]):
    """One reader's session with one node."""

    def __init__(self) -> None:
        self.session_id = NO_SESSION
        self.epoch = INITIAL_EPOCH
        self._sent: dict[K, T] = {}

    def changes(self, wanted: Mapping[K, T]) -> tuple[dict[K, T], dict[K, T]]:
        """What the next request names so that all of `wanted` is fetched and nothing else, and what it forgets."""
        sent, self._sent = self._sent, dict(wanted)
        if self.epoch == INITIAL_EPOCH:
            return self._sent, {}
        # A topic made anew under its old name: the node has to forget the old id first.
        forgotten = {
            key: target for key, target in sent.items() if key not in wanted or wanted[key].topic_id != target.topic_id
        }
        return {key: target for key, target in wanted.items() if sent.get(key) != target}, forgotten

    def answered(self, session_id: int) -> None:
        """The request was answered without an error at the top; the id is 0 if the node keeps no session."""
        if session_id == NO_SESSION:
            self.forget()
        else:
            self.session_id = session_id
            self.epoch = next_epoch(self.epoch)

    def failed(self) -> None:
        """The request was refused or lost: the next one is a full one, which also ends the session that was."""
        self.epoch = INITIAL_EPOCH

    def forget(self) -> None:
        """The node does not know the session."""
        self.session_id = NO_SESSION
        self.epoch = INITIAL_EPOCH
