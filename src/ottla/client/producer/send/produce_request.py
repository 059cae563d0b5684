"""Builds Produce requests from batches, and finds the batch that each part of an answer is about."""

from collections.abc import Iterator, Sequence
from typing import Final

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.client.cluster.cluster_view import BrokerView, ClusterView
from ottla.client.producer.batch import ProducerBatch
from ottla.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

IDS_FROM: Final = 13
"""From this version on topics have ids and no names (KIP-516)."""
LAST_BEFORE_TRANSACTIONS_V2: Final = 11
"""Later versions add the partition to the transaction by themselves (KIP-890)."""


class SentBatches:
    """The batches of one request."""

    __slots__ = ("_by_place", "batches", "version")

    def __init__(self, batches: Sequence[ProducerBatch], version: int, view: ClusterView) -> None:
        self.batches: Final = batches
        self._by_place: Final[dict[tuple[object, int], ProducerBatch]] = {}
        ids = {batch.queue.topic: topic_id(view, batch.queue.topic) for batch in batches} if version >= IDS_FROM else {}
        if any(found == ZERO_UUID for found in ids.values()):
            version = IDS_FROM - 1
        self.version: Final = version
        for batch in batches:
            topic = batch.queue.topic
            place: object = ids[topic] if version >= IDS_FROM else topic
            self._by_place[place, batch.queue.partition] = batch

    def request(self, acks: int, timeout_ms: int, transactional_id: str | None) -> ProduceRequest:
        """All batches as one request."""
        topics: dict[object, TopicProduceData] = {}
        for (place, partition), batch in self._by_place.items():
            data = topics.get(place)
            if data is None:
                if self.version >= IDS_FROM:
                    data = TopicProduceData(topic_id=place)  # type: ignore[arg-type]
                else:
                    data = TopicProduceData(name=batch.queue.topic)
                topics[place] = data
            data.partition_data.append(PartitionProduceData(index=partition, records=batch.records))
        return ProduceRequest(
            transactional_id=transactional_id, acks=acks, timeout_ms=timeout_ms, topic_data=list(topics.values())
        )

    def answers(self, response: ProduceResponse) -> Iterator[tuple[ProducerBatch, PartitionProduceResponse]]:
        """Each batch that the answer speaks of, in its order."""
        for topic in response.responses:
            place: object = topic.topic_id if self.version >= IDS_FROM else topic.name
            for partition in topic.partition_responses:
                batch = self._by_place.pop((place, partition.index), None)
                if batch is not None:
                    yield batch, partition

    @property
    def unanswered(self) -> list[ProducerBatch]:
        """The batches that the answer does not mention."""
        return list(self._by_place.values())


def topic_id(view: ClusterView, topic: str) -> Uuid:
    """The topic's id; zero if the brokers have none for it."""
    found = view.topics.get(topic)
    return ZERO_UUID if found is None else found.id


def endpoints(response: ProduceResponse) -> list[BrokerView]:
    """The brokers that an answer names (KIP-951)."""
    return [BrokerView(node.node_id, node.host, node.port, node.rack) for node in response.node_endpoints]
