"""Topics that are created at the first request for them (`auto.create.topics.enable`, and internal topics).

A client is told UNKNOWN_TOPIC_OR_PARTITION and asks again until the topic is there; the controller creates it
meanwhile. Each topic is asked for once at a time. A creation that failed is not tried again for a second, so that a
thousand clients that ask for a topic which cannot be (too few brokers for its replicas) don't keep the controller busy.
"""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ottla.broker.config.server_config import ServerConfig
from ottla.broker.coordinator_host.internal_topic import internal_topic, is_internal
from ottla.metadata.topic_name import check_topic_name
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError, ErrorCode, InvalidTopicError
from ottla.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse

if TYPE_CHECKING:
    from ottla.base.clock import Clock
    from ottla.broker.config.dynamic_config import DynamicConfig
    from ottla.broker.quorum.controller_channel import ControllerChannel

_log = logging.getLogger(__name__)

RETRY_INTERVAL_MS: Final = 1_000
FAILED_NAMES_MAX: Final = 1_000
SHOWN_NAMES_MAX: Final = 10
BROKER_DEFAULT: Final = -1
"""Leaves the number of partitions or replicas to the controller's own settings."""
_FINE: Final = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
"""Whether the topic exists, which is enough: another request may have created it."""


class AutoTopicCreator:
    """Has missing topics created, once each. Loop thread only."""

    def __init__(self, controller: "ControllerChannel", dynamic: "DynamicConfig", clock: "Clock") -> None:
        self._controller = controller
        self._dynamic = dynamic
        self._clock = clock
        self._under_way: set[str] = set()
        self._failed_ms: dict[str, int] = {}

    def create(self, names: Iterable[str]) -> dict[str, ErrorCode]:
        """Sets out to create topics that are missing; what to tell a client about each of them meanwhile."""
        answers: dict[str, ErrorCode] = {}
        wanted: list[str] = []
        for name in names:
            answers[name] = error_of_missing(name)
            if answers[name] is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and self._may_try(name):
                wanted.append(name)
        if wanted:
            self._send(wanted)
        return answers

    def _may_try(self, name: str) -> bool:
        if name in self._under_way:
            return False
        failed_ms = self._failed_ms.get(name)
        return failed_ms is None or self._clock.monotonic_ms() - failed_ms >= RETRY_INTERVAL_MS

    def _send(self, names: list[str]) -> None:
        config = self._dynamic.current
        timeout_ms = config.integer("request.timeout.ms")
        topics = [creatable_topic(name, config) for name in names]
        self._under_way.update(names)
        _log.info("Sent auto-creation request for %s to the active controller.", _shown(names))
        request = CreateTopicsRequest(topics=topics, timeout_ms=timeout_ms)
        self._controller.send(request, lambda answer: self._answered(names, answer), timeout_ms=timeout_ms)

    def _answered(self, names: list[str], answer: Response | ApiError) -> None:
        self._under_way.difference_update(names)
        for name in names:
            self._failed_ms.pop(name, None)
        failed: dict[str, list[str]] = {}
        if isinstance(answer, CreateTopicsResponse):
            for topic in answer.topics:
                if topic.error_code not in _FINE:
                    reason = topic.error_message or ErrorCode(topic.error_code).name
                    failed.setdefault(reason, []).append(topic.name)
        else:
            failed[str(answer)] = names
        for reason, found in failed.items():
            self._failed(found, reason)

    def _failed(self, names: list[str], reason: str) -> None:
        _log.warning("Auto topic creation failed for %s: %s", _shown(names), reason)
        now_ms = self._clock.monotonic_ms()
        for name in names[:FAILED_NAMES_MAX]:
            if len(self._failed_ms) >= FAILED_NAMES_MAX:
                # The oldest is the first: names come in by time and are taken out before they come in again.
                del self._failed_ms[next(iter(self._failed_ms))]
            self._failed_ms[name] = now_ms


def _shown(names: list[str]) -> str:
    """Names for a log line; a client can ask for any number of them."""
    more = f" and {len(names) - SHOWN_NAMES_MAX} more" if len(names) > SHOWN_NAMES_MAX else ""
    return ", ".join(names[:SHOWN_NAMES_MAX]) + more


def error_of_missing(name: str) -> ErrorCode:
    """The answer to a client that asks for a missing topic.

    >>> error_of_missing("orders").name, error_of_missing("a b").name
    ('UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION')
    """
    try:
        check_topic_name(name)
    except InvalidTopicError as error:
        return error.code
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def creatable_topic(name: str, config: ServerConfig) -> CreatableTopic:
    """The shape of an auto-created topic: this broker's settings, else the controller's."""
    if is_internal(name):
        return internal_topic(name, config)
    given = config.given
    partitions = config.integer("num.partitions") if "num.partitions" in given else BROKER_DEFAULT
    factor = "default.replication.factor"
    replicas = config.integer(factor) if factor in given else BROKER_DEFAULT
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas)
