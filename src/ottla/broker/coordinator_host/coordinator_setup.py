"""Puts the coordinators of a broker together: their logs, their loading, their driver, and who tells them the news.

Handlers find them in `BrokerParts.coordinators`.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ottla.base.clock import Clock
from ottla.base.metric import Counter, MetricRegistry
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.coordinator_host.coordinator_leadership import CoordinatorLeadership, Followers
from ottla.broker.coordinator_host.coordinator_load import LoadSettings, ReadInThread, ShardLoader
from ottla.broker.coordinator_host.coordinator_log import PartitionShardLog
from ottla.broker.coordinator_host.coordinator_marker import BrokerMarkerSender, MarkerWriter
from ottla.broker.coordinator_host.coordinator_peer import BrokerPeers
from ottla.broker.coordinator_host.coordinator_round import CoordinatorRounds
from ottla.broker.coordinator_host.coordinator_setting import group_config, txn_config
from ottla.broker.coordinator_host.coordinator_verification import TransactionVerifier, VerifierSettings
from ottla.broker.coordinator_host.internal_topic import CONSUMER_OFFSETS, TRANSACTION_STATE
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.security.rights import Rights, sees_topic
from ottla.coordinator.group.caller import GroupCaller, everything
from ottla.coordinator.group.consumer.assignment.metadata_hash import TopicHashes
from ottla.coordinator.group.group_coordinator import GroupCoordinator
from ottla.coordinator.group.group_factory import GroupContext, new_group_shard
from ottla.coordinator.group.group_state import GroupsState
from ottla.coordinator.group.rebalance_reason import RebalanceLog, RebalanceReason
from ottla.coordinator.ports import MarkerErrors, MarkerSender, MarkersToSend, ProducerIds
from ottla.coordinator.runtime.metadata_view import ImageView
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.coordinator.txn.txn_coordinator import ShardHooks, TxnCoordinator, TxnOutside
from ottla.protocol.acl import AclOperation
from ottla.protocol.compression import CompressionType
from ottla.protocol.errors import ApiError
from ottla.replication.ports import EventLoop
from ottla.replication.replica_manager import ReplicaManager
from ottla.storage.topic_partition import TopicPartition

if TYPE_CHECKING:
    from ottla.broker.request.request_context import RequestContext


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinatorContext:
    """The collaborators of the coordinators."""

    config: ServerConfig
    loop: EventLoop
    clock: Clock
    """One that never runs backwards."""
    day_clock: Clock
    """The time of day, for the timestamps of what is written."""
    at_round_end: Callable[[Callable[[], None]], None]
    read_in_thread: ReadInThread
    replicas: ReplicaManager
    metadata: MetadataCache
    producer_ids: ProducerIds
    peers: BrokerPeers
    is_metadata_complete: Callable[[], bool]
    """Whether the metadata holds all there was when this broker registered; never turns back."""
    metrics: MetricRegistry


class Coordinators:
    """The coordinators of one broker. Loop thread only."""

    def __init__(self, around: CoordinatorContext) -> None:
        self._clock: Final = around.clock
        self._rounds: Final = CoordinatorRounds(around.loop, around.clock, around.at_round_end)
        self._loaders: Final[list[ShardLoader]] = []
        self._peers: Final = around.peers
        timeout_ms = around.config.integer("request.timeout.ms")
        self.groups: Final = self._make_groups(around)
        self.markers: Final = MarkerWriter(around.replicas, self.groups, (around.clock, around.day_clock), timeout_ms)
        self.transactions: Final = self._make_transactions(around, timeout_ms)
        self.verifier: Final = TransactionVerifier(
            VerifierSettings(
                around.config.node_id,
                timeout_ms,
                around.config.integer("add.partitions.to.txn.retry.backoff.ms"),
                around.config.integer("add.partitions.to.txn.retry.backoff.max.ms"),
            ),
            (around.loop, around.clock),
            self.transactions,
            around.metadata,
            around.peers,
        )
        self._rounds.drive(self.groups.shards, _DrivenTransactions(self.transactions))
        self.leadership: Final = CoordinatorLeadership(
            around.config.node_id,
            around.clock,
            Followers(
                {CONSUMER_OFFSETS: self.groups.shards, TRANSACTION_STATE: self.transactions.shards},
                self.groups,
                self._metadata_changed,
            ),
        )

    def ask_groups(
        self,
        call: Callable[[Any, GroupCaller, int, Callable[[Any], None]], None],
        context: "RequestContext",
        request: object,
        done: Callable[[Any], None] | None = None,
    ) -> None:
        """Puts a request to the group coordinator by one of its methods; its response is sent, or goes to `done`."""
        rights = context.rights
        visible = everything if rights.is_unlimited else partial(_visible, rights)
        caller = GroupCaller(context.client_id, f"/{context.client_host}", context.version, visible)
        call(request, caller, self._clock.now_ms(), context.answer if done is None else done)
        self._rounds.touched()

    def ask_transactions(
        self,
        call: Callable[[Any, int, int, Callable[[Any], None]], None],
        context: "RequestContext",
        request: object,
        done: Callable[[Any], None] | None = None,
    ) -> None:
        """Puts a request to the transaction coordinator by one of its methods; its response is sent, or goes to
        `done`."""
        call(request, context.version, self._clock.now_ms(), context.answer if done is None else done)
        self._rounds.touched()

    @property
    def now_ms(self) -> int:
        """The coordinators' time."""
        return self._clock.now_ms()

    @property
    def round_ms(self) -> int:
        """Their time, the same for all that comes in one round."""
        return self._rounds.round_ms

    def touched(self) -> None:
        """An operation was put to a coordinator directly."""
        self._rounds.touched()

    def close(self) -> None:
        """Runs nothing more; requests that wait get no answer, as the connections are gone."""
        self._rounds.close()
        for loader in self._loaders:
            loader.close()
        self._peers.close()

    def _metadata_changed(self) -> None:
        self.transactions.metadata_changed()
        self._rounds.touched()

    def _committed(self, shards: ShardSet[Any], partition: int, high_watermark: int) -> None:
        shards.committed(partition, high_watermark)
        # What was waited for may have set timers.
        self._rounds.touched()

    def _make_groups(self, around: CoordinatorContext) -> GroupCoordinator:
        config = group_config(around.config)
        metadata = ImageView(lambda: around.metadata.image)
        counters = _rebalance_counters(around.metrics)
        rebalances = RebalanceLog(lambda reason: counters[reason].add())
        group_context = GroupContext(
            config=config,
            chance=random.SystemRandom(),
            metadata=metadata,
            rebalance_log=rebalances,
            image_version=lambda: around.metadata.image.provenance.offset,
            hashes=TopicHashes(metadata),
        )
        compression = CompressionType(around.config.integer("offsets.topic.compression.codec"))
        logs: dict[int, PartitionShardLog] = {}

        def open_shard(partition: int, leader_epoch: int) -> Shard[GroupsState]:
            log = logs[partition] = PartitionShardLog(
                around.replicas,
                TopicPartition(CONSUMER_OFFSETS, partition),
                around.day_clock,
                partial(self._committed, shards, partition),
                compression,
            )
            shard = new_group_shard(partition, log, group_context)
            # Who appends looks at the timers afterwards anyway.
            log.committed_at_once = shard.committed
            return shard

        loader = self._loader(around, CONSUMER_OFFSETS, logs, lambda shard: shards.reload(shard))
        shards: ShardSet[GroupsState] = ShardSet(open_shard, loader.load, self._rounds.wants_flush)

        def partition_count() -> int:
            topic = around.metadata.topic(CONSUMER_OFFSETS)
            return around.config.integer("offsets.topic.num.partitions") if topic is None else len(topic.partitions)

        return GroupCoordinator(shards, partition_count, metadata, config)

    def _make_transactions(self, around: CoordinatorContext, timeout_ms: int) -> TxnCoordinator:
        sender = BrokerMarkerSender(around.config.node_id, self.markers, around.peers, timeout_ms)
        touched = self._rounds.touched
        outside = TxnOutside(
            metadata=ImageView(lambda: around.metadata.image),
            producer_ids=_TouchingProducerIds(around.producer_ids, touched),
            marker_sender=_TouchingMarkerSender(sender, touched),
            clock=around.clock,
            is_metadata_complete=around.is_metadata_complete,
        )
        logs: dict[int, PartitionShardLog] = {}

        def open_log(partition: int, leader_epoch: int) -> PartitionShardLog:
            log = logs[partition] = PartitionShardLog(
                around.replicas,
                TopicPartition(TRANSACTION_STATE, partition),
                around.day_clock,
                partial(self._committed, transactions.shards, partition),
            )
            return log

        loader = self._loader(around, TRANSACTION_STATE, logs, lambda shard: transactions.shards.reload(shard))
        hooks = ShardHooks(open_log, loader.load, self._rounds.wants_flush)
        transactions = TxnCoordinator(txn_config(around.config), outside, hooks)
        return transactions

    def _loader(
        self,
        around: CoordinatorContext,
        topic: str,
        logs: dict[int, PartitionShardLog],
        reload: Callable[[Shard[Any]], bool],
    ) -> ShardLoader:
        kind = _COORDINATORS[topic]

        def loaded(partition: int) -> None:
            logs[partition].watch()
            self._rounds.touched()

        def when_led(begin: Callable[[], None]) -> None:
            around.replicas.when_applied(around.metadata.image.provenance.offset, begin)

        settings = LoadSettings(
            topic, around.config.integer(kind.buffer_key), when_led, around.read_in_thread, loaded, reload
        )
        loader = ShardLoader(around.replicas, around.loop, around.clock, settings)
        self._loaders.append(loader)
        around.metrics.gauge(
            f"kafka_server_{kind.name}_coordinator_metrics_num_partitions",
            f"Partitions of {topic} that this broker leads and could not load: nothing of theirs is served.",
            lambda: loader.failed_count,
            state="failed",
        )
        return loader


class _CoordinatorKind(NamedTuple):
    name: str
    buffer_key: str


_COORDINATORS: Final = {
    CONSUMER_OFFSETS: _CoordinatorKind("group", "offsets.load.buffer.size"),
    TRANSACTION_STATE: _CoordinatorKind("transaction", "transaction.state.log.load.buffer.size"),
}


class _DrivenTransactions:
    """The transaction coordinator as `CoordinatorRounds` drives it."""

    def __init__(self, transactions: TxnCoordinator) -> None:
        self._transactions: Final = transactions

    def flush(self, now_ms: int) -> None:
        """Appends what operations decided."""
        self._transactions.shards.flush(now_ms)

    def poll(self, now_ms: int) -> None:
        """Runs what is due."""
        self._transactions.poll(now_ms)

    @property
    def next_ms(self) -> int | None:
        """The next time to poll."""
        return self._transactions.next_ms


class _TouchingProducerIds:
    """Ids that come late may lead to timers."""

    def __init__(self, inner: ProducerIds, touched: Callable[[], None]) -> None:
        self._inner: Final = inner
        self._touched: Final = touched

    def next(self, done: Callable[[int | ApiError], None]) -> None:
        """See `ProducerIds`."""

        def given(result: int | ApiError) -> None:
            done(result)
            self._touched()

        self._inner.next(given)


class _TouchingMarkerSender:
    """Markers that are refused are tried again by a timer."""

    def __init__(self, inner: MarkerSender, touched: Callable[[], None]) -> None:
        self._inner: Final = inner
        self._touched: Final = touched

    def send(
        self, broker_id: int, markers: Sequence[MarkersToSend], done: Callable[[MarkerErrors | ApiError], None]
    ) -> None:
        """See `MarkerSender`."""

        def heard(result: MarkerErrors | ApiError) -> None:
            done(result)
            self._touched()

        self._inner.send(broker_id, markers, heard)


def _rebalance_counters(metrics: MetricRegistry) -> dict[RebalanceReason, Counter]:
    """One for each reason, which all are there from the start: a rate of what never happened is 0."""
    return {
        reason: metrics.counter(
            "kafka_coordinator_group_groupcoordinatormetrics_rebalances_total",
            "Rebalances of groups since the start, by reason.",
            reason=reason.value,
        )
        for reason in RebalanceReason
    }


def _visible(rights: Rights, topics: Iterable[str]) -> list[str]:
    return [topic for topic in topics if sees_topic(rights, AclOperation.DESCRIBE, topic)]
