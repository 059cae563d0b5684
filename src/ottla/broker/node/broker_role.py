"""The broker of a node: opens its logs, serves its listeners, and lives under the controller's eyes.

The order of the start: the metadata is caught up, so that it is known which logs belong here; the logs are loaded; the
parts hear of the metadata, in order; the listeners are bound; the broker registers and is unfenced; clients are let in.
The stop goes the other way: leave is asked for while everything still works, then no request comes in any more, and the
logs are closed last, with the mark that they were left in order.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from ottla.base.ids import ZERO_UUID, Uuid
from ottla.base.log import IdentityLogger
from ottla.broker.adapters.alter_partition import ControllerAlterPartition
from ottla.broker.adapters.directory_event import ControllerDirectoryEvents
from ottla.broker.adapters.leader_endpoint import BrokerEndpoint
from ottla.broker.batch_check import BatchChecks
from ottla.broker.config.dynamic_config import DynamicConfig
from ottla.broker.config.keys.quota import DYNAMIC_QUOTA_KEYS
from ottla.broker.config.schema import BrokerConfigSchema
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.coordinator_host.coordinator_peer import BrokerPeers
from ottla.broker.coordinator_host.coordinator_setup import CoordinatorContext, Coordinators
from ottla.broker.coordinator_host.producer_id_source import ProducerIdSource
from ottla.broker.node.broker_setting import (
    CHECK_KEYS,
    CLEANER_KEYS,
    REPLICATION_KEYS,
    check_threads,
    follower,
    lifecycle_settings,
    replication_settings,
    throttle_limits,
)
from ottla.broker.node.lifecycle import NO_EPOCH, BrokerIdentity, BrokerLifecycle, BrokerState, LifecycleState
from ottla.broker.node.listener_set import ListenerSet
from ottla.broker.node.node_context import NodeContext
from ottla.broker.node.parts import BrokerParts
from ottla.broker.node.start_error import StartError
from ottla.broker.node.stray_log import StrayLogs
from ottla.broker.node.topic_metric import TopicMetrics
from ottla.broker.quorum.controller_channel import ControllerChannel
from ottla.broker.quorum.quorum_member import QuorumMember
from ottla.broker.quota.callback import make_quota_callback
from ottla.broker.quota.client_quota import ClientQuotas, quota_windows
from ottla.broker.request.api_table import BROKER_SERVED
from ottla.broker.request.api_versions_answer import ApiVersionsAnswer
from ottla.broker.request.fetch_session import FetchSessionCache
from ottla.broker.request.metadata.auto_topic import AutoTopicCreator
from ottla.broker.request.metadata.metadata_cache import MetadataCache
from ottla.broker.request.pipeline import Pipeline
from ottla.broker.request.telemetry.client_metrics import ClientMetrics
from ottla.broker.security.setup import Guards, make_guards
from ottla.metadata.loader import MetadataListener
from ottla.protocol.errors import ApiError
from ottla.raft.identity import Node
from ottla.replication.metric import register_metrics
from ottla.replication.replica_manager import ReplicaManager
from ottla.replication.replica_manager_options import ReplicaManagerOptions
from ottla.replication.schedule.mailbox import Mailbox
from ottla.storage.cleaner.log_cleaner import LogCleaner
from ottla.storage.errors import StorageError
from ottla.storage.log_manager import LogManager

_DRAINING_TURNS: Final = 3
"""Turns of the loop in which answers that were just given leave, before their connections are closed."""
_PATIENCE_MS: Final = 5_000
"""How long a start waits for the quorum without a word."""


class BrokerRole:
    """The broker part of a node. `start` it, `shut_down` it in a controlled way, `close` it in any state."""

    def __init__(
        self,
        around: NodeContext,
        member: QuorumMember,
        logs: LogManager,
        channel: ControllerChannel,
        settings: tuple[DynamicConfig, BrokerConfigSchema],
    ) -> None:
        self._around = around
        self._member = member
        self._logs = logs
        self._channel = channel
        self._dynamic, self._schema = settings
        self._log = IdentityLogger(logging.getLogger(__name__), f"BrokerServer id={around.config.node_id}")
        self._closing = AsyncExitStack()
        self.metadata = MetadataCache(
            around.config.node_id, follow_dialled_address=around.config.follow_dialled_address
        )
        self.listeners: ListenerSet | None = None
        self.lifecycle: BrokerLifecycle | None = None
        self._replicas: ReplicaManager | None = None
        self._guards: Guards | None = make_guards(around)
        if self._guards is not None and self._guards.audit is not None:
            self._closing.callback(self._guards.audit.close)
        self._was_ready = False

    @property
    def state(self) -> LifecycleState:
        """The step in the broker's life."""
        return LifecycleState.NOT_RUNNING if self.lifecycle is None else self.lifecycle.state

    @property
    def is_ready(self) -> bool:
        """Whether clients can use this broker."""
        return self.lifecycle is not None and not self.lifecycle.is_fenced

    async def start(self) -> None:
        """Returns once the broker is unfenced and has taken in what it leads; `StartError` if it never will be."""
        await self._catch_up()
        await self._load_logs()
        replicas = self._replicas = self._make_replicas()
        parts = self._make_parts(replicas)
        listeners = self.listeners = self._open(parts)
        await self._register(self._make_lifecycle(parts, listeners))
        await _applied(replicas, self._member.metadata.image.provenance.offset)
        # Until now the metadata names no broker here: a client that is told so may drop its only address for good.
        listeners.start()

    async def shut_down(self) -> None:
        """Asks the controller for leave, and waits until it is given or refused, or no answer comes."""
        if self.lifecycle is not None and self._replicas is not None:
            self._replicas.begin_controlled_shutdown()
            stopped = asyncio.Event()
            self.lifecycle.begin_controlled_shutdown(stopped.set)
            await stopped.wait()

    async def close(self) -> None:
        """Stops serving and closes the logs."""
        await self._closing.aclose()

    async def _catch_up(self) -> None:
        timeout_ms = self._around.config.integer("initial.broker.registration.timeout.ms")
        first_ms = min(timeout_ms, _PATIENCE_MS)
        if await self._member.catch_up(first_ms / 1000):
            return
        self._log.warning("no controller could be followed so far; %s", self._quorum_seen())
        if not await self._member.catch_up((timeout_ms - first_ms) / 1000):
            raise StartError(f"no controller could be followed within {timeout_ms} ms; {self._quorum_seen()}")

    def _quorum_seen(self) -> str:
        """The log line about a quorum that does not answer."""
        config = self._around.config
        servers = [f"{server.host}:{server.port}" for server in config.quorum_bootstrap_servers]
        voters = [f"{voter.host}:{voter.port}" for voter in config.quorum_voters]
        seen = f"the quorum's servers are {', '.join(servers or voters) or 'not configured'}"
        if config.is_controller and not voters and self._member.raft.core.next_offset == 0:
            seen += (
                f"; the metadata log in {config.metadata_log_dir} is empty: if this node was a controller before, "
                "__cluster_metadata-0 is lost there, and has to be restored or the directory formatted anew"
            )
        return seen + self._other_directory()

    def _other_directory(self) -> str:
        """The end of that line where the quorum knows this voter by another directory than its own."""
        config = self._around.config
        voter = self._member.core.voters.by_id.get(config.node_id)
        path = os.path.abspath(config.metadata_log_dir)
        own = next((one.directory_id for one in self._logs.directories.online() if one.path == path), None)
        if voter is None or own is None or voter.key.directory_id in (ZERO_UUID, own):
            return ""
        return (
            f"; this voter has the directory id {voter.key.directory_id} there, and {own} in {path}/meta.properties: "
            "restore that file, or have the voter removed and added again"
        )

    async def _load_logs(self) -> None:
        image = self._member.metadata.image
        strays = StrayLogs(self._around.config.node_id, image.topics)
        overrides = self._dynamic.topic_overrides(image)
        loading = asyncio.ensure_future(asyncio.to_thread(self._logs.load, overrides, strays.is_stray))
        self._closing.push_async_callback(self._close_logs, loading)
        await asyncio.shield(loading)

    async def _close_logs(self, loading: "asyncio.Future[None]") -> None:
        # A start that is given up has to wait for the thread: it cannot be called back.
        await asyncio.wait((loading,))
        try:
            await asyncio.to_thread(self._logs.shutdown, self._broker_epoch())
        except StorageError as error:
            self._log.error("a log directory could not be closed in order: %s", error)

    def _make_replicas(self) -> ReplicaManager:
        around, config = self._around, self._around.config
        events = ControllerDirectoryEvents(
            (config.node_id, self._broker_epoch), self._directory_failed, self._channel, around.loop, self._all_failed
        )
        replicas = ReplicaManager(
            ReplicaManagerOptions(
                node_id=config.node_id,
                logs=self._logs,
                clock=around.clock,
                loop=around.loop,
                alter_partition=ControllerAlterPartition(
                    config.node_id, self._broker_epoch, self._channel, around.loop
                ),
                directory_events=events,
                endpoint_of=self._endpoint_of,
                cleaner=self._make_cleaner(),
                settings=replication_settings(config),
                note_fault=self._member.metadata.note_fault,
            )
        )
        register_metrics(around.metrics, replicas)
        self._dynamic.subscribe(
            REPLICATION_KEYS, lambda changed: replicas.update_settings(replication_settings(changed))
        )
        dynamic = self._dynamic
        dynamic.subscribe(
            DYNAMIC_QUOTA_KEYS,
            lambda _: replicas.limit_throttles(throttle_limits({**dynamic.cluster_configs, **dynamic.broker_configs})),
        )
        return replicas

    def _make_cleaner(self) -> LogCleaner | None:
        if not self._around.config.boolean("log.cleaner.enable"):
            return None
        cleaner = LogCleaner(self._logs, self._around.config.cleaner)

        def take(changed: ServerConfig) -> None:
            cleaner.config = changed.cleaner

        self._dynamic.subscribe(CLEANER_KEYS, take)
        return cleaner

    def _make_parts(self, replicas: ReplicaManager) -> BrokerParts:
        around, config = self._around, self._around.config
        slots = config.integer("max.incremental.fetch.session.cache.slots")
        producer_ids = ProducerIdSource(self._channel, config.node_id, self._broker_epoch)
        return BrokerParts(
            node_id=config.node_id,
            cluster_id=around.cluster_id,
            config=config,
            clock=around.clock,
            loop=around.loop,
            replicas=replicas,
            checks=self._make_checks(),
            logs=self._logs,
            metadata=self.metadata,
            controller=self._channel,
            dynamic=self._dynamic,
            schema=self._schema,
            producer_ids=producer_ids,
            metrics=around.metrics,
            topic_metrics=TopicMetrics(around.metrics),
            auto_topics=AutoTopicCreator(self._channel, self._dynamic, around.clock),
            client_metrics=ClientMetrics(around.clock, self._dynamic),
            coordinators=self._make_coordinators(replicas, producer_ids),
            api_versions=ApiVersionsAnswer(BROKER_SERVED),
            fetch_sessions=FetchSessionCache(slots, around.clock, around.metrics),
            kraft_version=lambda: self._member.core.kraft_version,
        )

    def _make_checks(self) -> BatchChecks:
        around = self._around
        threads = check_threads(self._dynamic.current)
        checks = BatchChecks(self._logs, around.clock, Mailbox(around.loop), threads, around.poller.memory)
        self._dynamic.subscribe(CHECK_KEYS, lambda changed: checks.change_threads(check_threads(changed)))
        self._closing.callback(checks.close)
        return checks

    def _make_coordinators(self, replicas: ReplicaManager, producer_ids: ProducerIdSource) -> Coordinators:
        around = self._around
        client_id = f"broker-{around.config.node_id}-coordinator"
        peers = BrokerPeers(around.loop, self._find_broker, lambda node: around.connect_broker(node, client_id))
        return Coordinators(
            CoordinatorContext(
                config=around.config,
                loop=around.loop,
                clock=around.steady_clock,
                day_clock=around.clock,
                at_round_end=around.poller.at_round_end,
                read_in_thread=partial(_read_in_thread, around.loop),
                replicas=replicas,
                metadata=self.metadata,
                producer_ids=producer_ids,
                peers=peers,
                is_metadata_complete=self._has_been_ready,
                metrics=around.metrics,
            )
        )

    def _open(self, parts: BrokerParts) -> ListenerSet:
        """Has the parts follow the metadata, and binds what clients wait at."""
        around = self._around
        self._closing.push_async_callback(parts.replicas.stop)
        parts.replicas.start()
        guards = self._guards
        if guards is not None:
            self._follow(guards.authorizer)  # Rights stay what they were.
            if guards.audit is not None and guards.audit.topic is not None:
                self._follow(guards.audit.topic)  # Lines wait.
        # Who tells clients of the cluster comes first, and settings before the logs that are made with them. As in
        # Apache Kafka a fault in one of them ends a node that starts, and none that serves: it is counted and logged,
        # and the listener hears with the next image of what it missed. Nothing that the node says is untrue meanwhile:
        coordinators = parts.coordinators
        callback = make_quota_callback(around.config, around.clock)
        quotas = ClientQuotas(quota_windows(around.config), around.clock, around.metrics, callback)
        for listener in (
            self.metadata,  # Clients see the cluster as it was, as they do on any broker that lags.
            self._dynamic,  # Settings stay what they were.
            parts.topic_metrics,  # A deleted topic is counted on.
            parts.client_metrics,  # Subscriptions stay what they were.
            quotas,  # Clients are held to what they were.
            parts.replicas,  # Roles stay what they were. Epochs and the ISR keep a leader that is none from harm.
            coordinators.leadership,  # A shard is not served, or its writes are refused by the log.
        ):
            self._follow(listener)
        self._closing.callback(coordinators.close)
        admission = None if guards is None else guards.admission
        pipeline = Pipeline(parts, BROKER_SERVED, around.metrics, around.loop.time, admission)
        pipeline.follow_quotas(quotas)
        handler = pipeline if around.gate is None else around.gate(pipeline)
        config = self._dynamic.current
        listeners = ListenerSet(config.broker_listeners, handler, around, config)
        listeners.bind()
        self._closing.push_async_callback(self._close_listeners, listeners)
        return listeners

    def _make_lifecycle(self, parts: BrokerParts, listeners: ListenerSet) -> BrokerLifecycle:
        """The registration and the heartbeats of the broker."""
        around, config, current = self._around, self._around.config, self._dynamic.current
        identity = BrokerIdentity(
            node_id=config.node_id,
            cluster_id=around.cluster_id,
            incarnation_id=around.incarnation_id,
            listeners=listeners.advertised(
                current.advertised_broker_listeners, current.security_protocols, around.hostname
            ),
            rack=config.rack,
            directories=self._directory_ids(),
            previous_epoch=self._previous_epoch(),
        )
        state = BrokerState(lambda: parts.replicas.applied_offset, self._cordoned_directories, self._directory_unheard)
        lifecycle = BrokerLifecycle(identity, lifecycle_settings(config), self._channel, state, around.loop)
        self.lifecycle = lifecycle
        self._closing.callback(lifecycle.close)
        # A fault does not end the node: heartbeats go on, and the controller decides by them.
        self._follow(lifecycle)
        return lifecycle

    def _follow(self, listener: MetadataListener) -> None:
        self._member.metadata.add_listener(listener)
        self._closing.callback(self._member.metadata.remove_listener, listener)

    async def _close_listeners(self, listeners: ListenerSet) -> None:
        listeners.stop_accepting()
        for _ in range(_DRAINING_TURNS):
            await asyncio.sleep(0)
        listeners.close()

    async def _register(self, lifecycle: BrokerLifecycle) -> None:
        settled = asyncio.Event()
        refusals: list[ApiError] = []

        def heard(error: ApiError | None) -> None:
            if error is not None:
                refusals.append(error)
            settled.set()

        lifecycle.start(heard)
        await settled.wait()
        if refusals:
            raise StartError(f"the controller does not take this broker: {refusals[0]}")

    # What the parts ask of the broker

    def _has_been_ready(self) -> bool:
        self._was_ready = self._was_ready or self.is_ready
        return self._was_ready

    def _broker_epoch(self) -> int:
        return NO_EPOCH if self.lifecycle is None else self.lifecycle.broker_epoch

    def _directory_failed(self, directory_id: Uuid) -> None:
        if self.lifecycle is not None:
            self.lifecycle.directory_failed(directory_id)

    def _directory_unheard(self, directory_id: Uuid) -> None:
        reason = f"the controller could not be told in time that log directory {directory_id} is lost"
        self._around.on_failure(StorageError(reason, ", ".join(self._around.config.log_dirs)))

    def _all_failed(self) -> None:
        paths = ", ".join(self._around.config.log_dirs)
        directories = self._logs.directories
        errors = [directory.offline_error for directory in directories.offline()]
        last = next((error.errno for error in errors[::-1] if error is not None), None)
        self._around.on_failure(
            StorageError(f"no log directory is left ({directories.offline_reasons()})", paths, last)
        )

    def _directory_ids(self) -> list[Uuid]:
        found = [directory.directory_id for directory in self._logs.directories.online()]
        return [directory_id for directory_id in found if directory_id is not None]

    def _cordoned_directories(self) -> list[Uuid] | None:
        if not self._member.metadata.image.features.version.supports_cordoned_log_dirs:
            return None
        cordoned = set(self._dynamic.current.strings("cordoned.log.dirs"))
        return [
            directory.directory_id
            for directory in self._logs.directories.online()
            if directory.directory_id is not None and cordoned & {"*", directory.path}
        ]

    def _previous_epoch(self) -> int:
        """The epoch that all directories were left in order with; none if one was not, or at another time."""
        epochs = {directory.clean_shutdown_epoch for directory in self._logs.directories.online()}
        epoch = epochs.pop() if len(epochs) == 1 else None
        return NO_EPOCH if epoch is None else epoch

    def _endpoint_of(self, broker_id: int, number: int) -> BrokerEndpoint:
        client_id = f"broker-{self._around.config.node_id}-fetcher-{number}"
        return BrokerEndpoint(
            partial(self._find_broker, broker_id),
            lambda node: self._around.connect_broker(node, client_id),
            follower(self._around.config, self._broker_epoch),
        )

    def _find_broker(self, broker_id: int) -> Node | None:
        """The address of another broker, also of a fenced one: it may be the leader for a moment longer."""
        broker = self._member.metadata.image.cluster.brokers.get(broker_id)
        name = self._around.config.inter_broker_listener_name
        endpoints = () if broker is None else broker.listeners
        return next((Node(broker_id, found.host, found.port) for found in endpoints if found.name == name), None)


def _read_in_thread(
    loop: asyncio.AbstractEventLoop, read: Callable[[], bytes], done: Callable[[bytes | Exception], None]
) -> None:
    def in_thread() -> bytes | Exception:
        try:
            return read()
        except (OSError, StorageError) as error:
            return error

    def on_loop(reading: "asyncio.Future[bytes | Exception]") -> None:
        if not reading.cancelled():
            done(reading.result())

    loop.run_in_executor(None, in_thread).add_done_callback(on_loop)


async def _applied(replicas: ReplicaManager, offset: int) -> None:
    applied = asyncio.Event()
    replicas.when_applied(offset, applied.set)
    await applied.wait()
