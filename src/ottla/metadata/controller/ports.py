"""The ports of the controller, besides chance: the owners' config keys, policies and the quorum's log."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, Protocol

from ottla.metadata.image.config import ConfigResource
from ottla.protocol.messages.create_topics import CreatableTopicConfigs
from ottla.protocol.metadata_log.log import VersionedRecord


class ConfigSchema(Protocol):
    """The declared config keys of topics, brokers, groups and client metrics, with this node's own settings."""

    def validate(self, resource: ConfigResource, configs: Mapping[str, str], existing: Mapping[str, str]) -> None:
        """Raises an `ApiError` (mostly `InvalidConfigError`) if `configs` may not replace `existing`."""

    def supports(self, resource_type: int, name: str) -> bool:
        """Whether a key is declared for that type of resource. Brokers take any key, declared or not."""

    def is_list(self, resource: ConfigResource, name: str) -> bool:
        """Whether a key holds a list, so that values can be appended and subtracted."""

    def default(self, resource: ConfigResource, name: str) -> str | None:
        """The value of a key without a dynamic setting: this node's setting, or the declared default."""

    def topic_configs(
        self, topic: Mapping[str, str], node: Mapping[str, str], cluster: Mapping[str, str]
    ) -> list[CreatableTopicConfigs]:
        """All configs of a topic with their sources: its own before this node's before the cluster's."""


class NewTopic(NamedTuple):
    """A topic about to be created, as a policy sees it: either counts or assignments."""

    name: str
    num_partitions: int | None
    replication_factor: int | None
    assignments: Mapping[int, Sequence[int]] | None
    configs: Mapping[str, str | None]


class Policy(Protocol):
    """The operator's own rules (`create.topic.policy.class.name`, `alter.config.policy.class.name`)."""

    def check_topic(self, topic: NewTopic) -> None:
        """Raises `PolicyViolationError` if the topic may not be created."""

    def check_configs(self, resource: ConfigResource, configs: Mapping[str, str | None]) -> None:
        """Raises `PolicyViolationError` if the resource's configs may not be set so; None removes one."""


class NoPolicy:
    """Everything that Kafka allows is allowed."""

    def check_topic(self, topic: NewTopic) -> None:
        """Allows it."""

    def check_configs(self, resource: ConfigResource, configs: Mapping[str, str | None]) -> None:
        """Allows it."""


class Quorum(Protocol):
    """The log that the active controller writes, and what of the quorum its decisions depend on."""

    def end_offset(self) -> int:
        """The offset that the next record will get."""

    def append(self, epoch: int, records: Sequence[VersionedRecord]) -> int:
        """Appends one atomic batch and returns its last offset, without waiting for it to be committed.

        Raises `NotControllerError` if this node no longer leads `epoch`.
        """

    def leader_id(self) -> int | None:
        """The node that leads now, if that is known."""

    def voter_ids(self) -> Collection[int]:
        """The controllers that vote."""

    def kraft_version(self) -> int:
        """The finalized level of kraft.version."""

    def upgrade_kraft_version(self, epoch: int, level: int, *, validate_only: bool) -> None:
        """Raises `InvalidUpdateVersionError` if kraft.version cannot become `level`; else makes it so."""
