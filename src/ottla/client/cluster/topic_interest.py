"""Which topics a client wants to know about, and the question that asks for them."""

from collections.abc import Iterable
from typing import Final

from ottla.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic


def check_topics(names: Iterable[object]) -> None:
    """`TypeError` for what is no name: in a question to a broker it would spoil the answers about all others, too."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a topic is named by a str, not by {type(name).__name__}: {name!r}")


class TopicInterest:
    """A set of names, or all topics; asking for named topics may create them."""

    def __init__(self, *, may_create: bool) -> None:
        self._may_create: Final = may_create
        self._names: set[str] = set()
        self._wants_all = False

    @property
    def names(self) -> frozenset[str] | None:
        """The topics to ask for; None is all."""
        return None if self._wants_all else frozenset(self._names)

    def add(self, names: Iterable[str]) -> bool:
        """Wants these too; whether any is new."""
        wanted = set(names)
        check_topics(wanted)
        before = len(self._names)
        self._names |= wanted
        return len(self._names) > before

    def remove(self, names: Iterable[str]) -> None:
        """Does not want these any more."""
        self._names.difference_update(names)

    def set(self, names: Iterable[str]) -> bool:
        """Wants exactly these; whether any is new."""
        wanted = set(names)
        check_topics(wanted)
        is_new = bool(wanted - self._names) and not self._wants_all
        self._names, self._wants_all = wanted, False
        return is_new

    def add_all(self) -> bool:
        """Wants all that there are; whether that is new."""
        was_all, self._wants_all = self._wants_all, True
        return not was_all

    def question(self) -> MetadataRequest:
        """The request for the wanted topics."""
        if self._wants_all:
            return MetadataRequest(topics=None, allow_auto_topic_creation=False)
        topics = [MetadataRequestTopic(name=name) for name in sorted(self._names)]
        return MetadataRequest(topics=topics, allow_auto_topic_creation=self._may_create)
