"""The subscription of a query: named topics, topics that match a pattern, or single partitions."""

import re
from collections.abc import Iterable, Mapping

from ottla.base.frozen import frozen
from ottla.client.record import TopicPartition
from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.option.offset_json import parse_partitions

_NAMES = ("subscribe", "subscribePattern", "assign")


@frozen
class Subscription:
    """Exactly one of the three is given; `option` is its name, for errors."""

    option: str
    topics: frozenset[str] = frozenset()
    """Topics that have to exist; with `assign` those of the partitions."""
    pattern: re.Pattern[str] | None = None
    partitions: frozenset[TopicPartition] | None = None

    def matching(self, names: Iterable[str]) -> frozenset[str]:
        """The existing topics that match."""
        if self.pattern is None:
            return self.topics & frozenset(names)
        return frozenset(name for name in names if self.pattern.fullmatch(name))

    @property
    def only_topic(self) -> str | None:
        """The topic, if it is one that is named."""
        return next(iter(self.topics)) if len(self.topics) == 1 else None

    def includes(self, partition: TopicPartition) -> bool:
        """Whether a partition of a topic that is meant is meant itself."""
        return self.partitions is None or partition in self.partitions

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"{self.option}={self.pattern.pattern}"
        return f"{self.option}={','.join(sorted(map(str, self.partitions or self.topics)))}"


def parse_subscription(options: Mapping[str, str]) -> Subscription:
    """The subscription that options (names in lower case) ask for."""
    given = [name for name in _NAMES if name.lower() in options]
    if len(given) != 1:
        listed = ", ".join(_NAMES)
        if not given:
            raise OptionError("subscribe", f"nothing says what to read: give one of {listed}")
        raise OptionError(given[1], f"contradicts {given[0]!r}: give only one of {listed}")
    option = given[0]
    text = options[option.lower()].strip()
    if option == "assign":
        partitions = parse_partitions(option, text)
        return Subscription(option, frozenset(part.topic for part in partitions), partitions=partitions)
    if option == "subscribePattern":
        return Subscription(option, pattern=_pattern(option, text))
    topics = frozenset(filter(None, map(str.strip, text.split(","))))
    if not topics:
        raise OptionError(option, "names no topic")
    return Subscription(option, topics)


def _pattern(option: str, text: str) -> re.Pattern[str]:
    if not text:
        raise OptionError(option, "the pattern is empty")
    try:
        return re.compile(text)
    except re.error as error:
        raise OptionError(option, f"{text!r} is not a regular expression: {error}") from None
