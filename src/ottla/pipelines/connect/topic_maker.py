"""Makes the topics that a source writes to, as `topic.creation.*` says, and the topic of source offsets.

Without `topic.creation.*` a missing topic is the broker's to make (`auto.create.topics.enable`).
"""

import re
from collections.abc import Mapping
from typing import Final

from ottla.client.admin.blocking_admin import Admin
from ottla.client.admin.value.topic import NewTopic
from ottla.connect.errors import ConnectError
from ottla.connect.pipeline.transform_chain import prefixed
from ottla.pipelines.connect.client_setting import admin_settings
from ottla.pipelines.connect.definition import ConnectorDefinition, TaskJob
from ottla.protocol.errors import TopicAlreadyExistsError

OFFSET_TOPIC: Final = "offset.storage.topic"
DEFAULT_OFFSET_TOPIC: Final = "connect-offsets"
_OWN: Final = frozenset({"partitions", "replication.factor", "include", "exclude"})


def offset_topics(config: Mapping[str, str], worker: Mapping[str, str]) -> list[str]:
    """The worker's, then the connector's own, where it has one: what is in that counts.

    >>> offset_topics({"offsets.storage.topic": "mine"}, {"offset.storage.topic": "all"})
    ['all', 'mine']
    """
    shared = worker.get(OFFSET_TOPIC, DEFAULT_OFFSET_TOPIC)
    own = config.get("offsets.storage.topic", "").strip()
    return [shared, own] if own and own != shared else [shared]


def ensure_offset_topic(definition: ConnectorDefinition) -> None:
    """Makes the topics of offsets that are not there."""
    worker = definition.worker
    configs = {"cleanup.policy": "compact", **prefixed(worker, "offset.storage.")}
    partitions = int(configs.pop("partitions", "25"))
    replicas = int(configs.pop("replication.factor", "3"))
    configs.pop("topic", None)
    shared, *own = offset_topics(definition.config, worker)
    for name, config in [(shared, {}), *((each, definition.config) for each in own)]:
        with Admin(admin_settings(config, worker)) as admin:
            if name not in admin.list_topics():
                _create(admin, name, (partitions, replicas), configs)


class TopicMaker:
    """Asked before the first record for each topic."""

    def __init__(self, job: TaskJob) -> None:
        self._job: Final = job
        self._known: Final[set[str]] = set()
        self._is_on: Final = (
            job.worker.get("topic.creation.enable", "true").strip().lower() != "false"
            and "topic.creation.default.replication.factor" in job.config
        )

    def ensure(self, name: str) -> None:
        """Makes the topic if it is not there and the connector says how."""
        if name in self._known:
            return
        self._known.add(name)
        if not self._is_on:
            return
        with Admin(admin_settings(self._job.config, self._job.worker)) as admin:
            if name not in admin.list_topics():
                configs = _group_settings(self._job.config, name)
                count, replicas = int(configs.get("partitions", "1")), int(configs.get("replication.factor", "-1"))
                plain = {key: value for key, value in configs.items() if key not in _OWN}
                _create(admin, name, (count, replicas), plain)


def _group_settings(config: Mapping[str, str], topic: str) -> dict[str, str]:
    """Those of the first group that has the topic; `default` has every one.

    >>> config = {"topic.creation.groups": "big", "topic.creation.big.include": "b.*",
    ...           "topic.creation.big.partitions": "9", "topic.creation.default.partitions": "1"}
    >>> _group_settings(config, "bulk")["partitions"], _group_settings(config, "a")["partitions"]
    ('9', '1')
    """
    default = prefixed(config, "topic.creation.default.")
    for group in config.get("topic.creation.groups", "").split(","):
        given = prefixed(config, f"topic.creation.{group.strip()}.") if group.strip() else {}
        if _matches(given.get("include", ""), topic) and not _matches(given.get("exclude", ""), topic):
            return {**{key: default[key] for key in ("partitions", "replication.factor") if key in default}, **given}
    return default


def _matches(patterns: str, topic: str) -> bool:
    try:
        return any(re.fullmatch(each.strip(), topic) for each in patterns.split(",") if each.strip())
    except re.error as error:
        raise ConnectError(f"topic.creation: {patterns!r} is no regular expression: {error}") from error


def _create(admin: Admin, name: str, size: tuple[int, int], configs: Mapping[str, str]) -> None:
    partitions, replicas = size
    brokers = len(admin.describe_cluster().nodes)
    chosen = min(replicas, brokers) if replicas > 0 else None
    try:
        admin.create_topics([NewTopic(name, partitions if partitions > 0 else None, chosen, configs=configs)])
    except TopicAlreadyExistsError:
        return
