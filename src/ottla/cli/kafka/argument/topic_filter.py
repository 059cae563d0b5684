"""Which topics are meant by a pattern on the command line, as Kafka's include lists read it."""

import re
from typing import Final

from ottla.cli.kafka.argument.option import ToolError

INTERNAL: Final = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})


class TopicFilter:
    """Lets topics pass whose whole name matches; a comma means "or".

    >>> only = TopicFilter("orders,pay.*")
    >>> [only.allows(name) for name in ("orders", "orders2", "payments")]
    [True, False, True]
    """

    def __init__(self, pattern: str) -> None:
        text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
        try:
            self._pattern: Final = re.compile(text)
        except re.error as error:
            raise ToolError(f"{text} is an invalid regex.") from error

    def allows(self, topic: str) -> bool:
        """Whether a topic passes."""
        return self._pattern.fullmatch(topic) is not None
