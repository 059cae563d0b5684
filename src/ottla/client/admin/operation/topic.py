"""Topics: listed, described, created, deleted, grown."""

from collections.abc import Iterable, Mapping

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.admin.channel import ANY_NODE, CONTROLLER
from ottla.client.admin.operation.base import AdminOperations
from ottla.client.admin.operation.config import config_entry
from ottla.client.admin.outcome import answered, outcome, settle
from ottla.client.admin.value.topic import CreatedTopic, NewPartitions, NewTopic, TopicListing
from ottla.client.other_client import several
from ottla.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from ottla.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse


class TopicOperations(AdminOperations):
    """Operations on topics."""

    async def list_topics(self, *, include_internal: bool = False) -> dict[str, TopicListing]:
        """All topics that the caller may see, sorted by name."""
        request = MetadataRequest(topics=None, allow_auto_topic_creation=True)
        response = await self._channel.ask(ANY_NODE, request, MetadataResponse)
        found = [
            TopicListing(topic.name, topic.topic_id, topic.is_internal)
            for topic in response.topics
            if topic.name is not None and (include_internal or not topic.is_internal)
        ]
        return {topic.name: topic for topic in sorted(found)}

    async def create_topics(
        self,
        topics: Iterable[NewTopic],
        *,
        validate_only: bool = False,
        errors: dict[str, OttlaError] | None = None,
    ) -> dict[str, CreatedTopic]:
        """Creates topics; with `validate_only` it is only checked that they could be."""
        wanted = {topic.name: topic for topic in _new_topics(topics)}

        async def ask(names: list[str]) -> dict[str, CreatedTopic | OttlaError]:
            request = CreateTopicsRequest(
                topics=[creatable_topic(wanted[name]) for name in names],
                timeout_ms=self._channel.request_timeout_ms,
                validate_only=validate_only,
            )
            response = await self._channel.ask_once(CONTROLLER, request, CreateTopicsResponse)
            return answered(
                names,
                {
                    found.name: outcome(created_topic(found), found.error_code, found.error_message)
                    for found in response.topics
                },
            )

        return settle(await self._ask_controller(list(wanted), ask), errors)

    async def delete_topics(self, names: Iterable[str], *, errors: dict[str, OttlaError] | None = None) -> None:
        """Deletes topics by their names, with all their data."""

        async def ask(asked: list[str]) -> dict[str, OttlaError | None]:
            states = [DeleteTopicState(name=name) for name in asked]
            response = await self._delete_topics(DeleteTopicsRequest(topics=states, topic_names=asked))
            return {
                found.name or "": outcome(None, found.error_code, found.error_message) for found in response.responses
            }

        settle(await self._ask_controller(several("delete_topics()", names, "names"), ask), errors)

    async def delete_topics_by_id(self, ids: Iterable[Uuid], *, errors: dict[Uuid, OttlaError] | None = None) -> None:
        """Deletes topics by their ids, which no later topic of the same name has."""

        async def ask(asked: list[Uuid]) -> dict[Uuid, OttlaError | None]:
            states = [DeleteTopicState(name=None, topic_id=topic_id) for topic_id in asked]
            response = await self._delete_topics(DeleteTopicsRequest(topics=states))
            return {
                found.topic_id: outcome(None, found.error_code, found.error_message) for found in response.responses
            }

        settle(await self._ask_controller(list(ids), ask), errors)

    async def _delete_topics(self, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
        request.timeout_ms = self._channel.request_timeout_ms
        return await self._channel.ask_once(CONTROLLER, request, DeleteTopicsResponse)

    async def create_partitions(
        self,
        topics: Mapping[str, NewPartitions | int],
        *,
        validate_only: bool = False,
        errors: dict[str, OttlaError] | None = None,
    ) -> None:
        """Gives topics more partitions; a plain number is the new total."""
        if not isinstance(topics, Mapping):
            raise TypeError(
                f'create_partitions() takes totals by topic, not {topics!r}: write create_partitions({{"orders": 6}})'
            )

        async def ask(names: list[str]) -> dict[str, OttlaError | None]:
            request = CreatePartitionsRequest(
                topics=[_grown_topic(name, topics[name]) for name in names],
                timeout_ms=self._channel.request_timeout_ms,
                validate_only=validate_only,
            )
            response = await self._channel.ask_once(CONTROLLER, request, CreatePartitionsResponse)
            return {found.name: outcome(None, found.error_code, found.error_message) for found in response.results}

        settle(await self._ask_controller(list(topics), ask), errors)


def _new_topics(given: Iterable[NewTopic]) -> list[NewTopic]:
    """The topics to create; a name alone does not say what the topic shall be."""
    whole: object = given
    topics = [whole] if isinstance(whole, (str, NewTopic)) else list(given)
    found = [topic for topic in topics if isinstance(topic, NewTopic)]
    if len(found) < len(topics) or isinstance(whole, NewTopic):
        names = [str(getattr(topic, "name", topic)) for topic in topics]
        example = ", ".join(f'NewTopic("{name}")' for name in names[:2])
        raise TypeError(f"create_topics() takes a list of NewTopic, not {given!r}: write create_topics([{example}])")
    return found


def creatable_topic(topic: NewTopic) -> CreatableTopic:
    """The topic as CreateTopics wants it: -1 for what the cluster or an assignment decides."""
    assignment = topic.assignment or {}
    return CreatableTopic(
        name=topic.name,
        num_partitions=-1 if topic.partitions is None else topic.partitions,
        replication_factor=-1 if topic.replication_factor is None else topic.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=partition, broker_ids=list(brokers))
            for partition, brokers in assignment.items()
        ],
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()],
    )


def created_topic(found: CreatableTopicResult) -> CreatedTopic:
    """The created topic; without its configs if `topic_config_error_code` is set."""
    if found.topic_config_error_code or found.configs is None:
        return CreatedTopic(found.topic_id, None, None, None)
    configs = {config.name: config_entry(config) for config in found.configs}
    return CreatedTopic(found.topic_id, found.num_partitions, found.replication_factor, configs)


def _grown_topic(name: str, wish: NewPartitions | int) -> CreatePartitionsTopic:
    grown = NewPartitions(wish) if isinstance(wish, int) else wish
    assignments = grown.new_assignments
    return CreatePartitionsTopic(
        name=name,
        count=grown.total_count,
        assignments=None
        if assignments is None
        else [CreatePartitionsAssignment(broker_ids=list(brokers)) for brokers in assignments],
    )
