"""`AsyncAdmin`: the admin client for asyncio. Owns the connection to the cluster; the areas say what can be asked."""

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from ottla.base.config import ConfigError
from ottla.client import other_client
from ottla.client.admin.channel import AdminChannel, AdminTimeouts
from ottla.client.admin.controller_cluster import ControllerCluster
from ottla.client.admin.operation.acl import AclOperations
from ottla.client.admin.operation.cluster import BROKERS, CONTROLLERS, ClusterOperations
from ottla.client.admin.operation.config import ConfigOperations
from ottla.client.admin.operation.group import GroupOperations
from ottla.client.admin.operation.group_description import GroupDescriptionOperations
from ottla.client.admin.operation.group_offset import GroupOffsetOperations
from ottla.client.admin.operation.log_dir import LogDirOperations
from ottla.client.admin.operation.quorum import QuorumOperations
from ottla.client.admin.operation.quota import QuotaOperations
from ottla.client.admin.operation.record import RecordOperations
from ottla.client.admin.operation.replica import ReplicaOperations
from ottla.client.admin.operation.scram import ScramOperations
from ottla.client.admin.operation.token import TokenOperations
from ottla.client.admin.operation.topic import TopicOperations
from ottla.client.admin.operation.topic_description import TopicDescriptionOperations
from ottla.client.admin.operation.transaction import TransactionOperations
from ottla.client.admin.value.cluster import Node
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings


class AsyncAdmin(
    TopicOperations,
    TopicDescriptionOperations,
    RecordOperations,
    ConfigOperations,
    ClusterOperations,
    QuorumOperations,
    ReplicaOperations,
    LogDirOperations,
    GroupOperations,
    GroupDescriptionOperations,
    GroupOffsetOperations,
    TransactionOperations,
    QuotaOperations,
    ScramOperations,
    AclOperations,
    TokenOperations,
):
    """Everything that can be asked of a cluster or changed in it.

    Settings are Kafka's, dotted in a mapping or with underscores as keywords:

        async with AsyncAdmin(bootstrap_servers="localhost:9092") as admin:
            await admin.create_topics([NewTopic("orders", partitions=3)])
            print(await admin.list_topics())

    A call tries for `default.api.timeout.ms`, then raises what went wrong last: the `ApiError` that the server answered
    with, or a `ClientError` if nobody answered. Calls about many things take `errors`: a dict that is filled with what
    failed, by key, instead of the first failure being raised. With `bootstrap.controllers` instead of
    `bootstrap.servers` the controllers are asked, without any broker (KIP-919).
    """

    def __init__(self, config: Mapping[str, object] | None = None, /, **settings: object) -> None:
        self._settings: Final = ClientSettings.of(ADMIN_KEYS, config, **settings)
        self._endpoint_type = CONTROLLERS if self._settings.list("bootstrap.controllers") else BROKERS
        cluster = _cluster(self._settings)
        timeouts = AdminTimeouts(
            api_timeout_ms=self._settings.integer("default.api.timeout.ms"),
            request_timeout_ms=self._settings.integer("request.timeout.ms"),
            backoff=Backoff.of_retries(self._settings),
        )
        self._cluster: Final = cluster
        self._channel = AdminChannel(cluster, timeouts)
        self._coordinators = cluster
        self._nodes = _Directory(cluster)

    @property
    def api_timeout_ms(self) -> int:
        """The time limit of a call: `default.api.timeout.ms`."""
        return self._settings.integer("default.api.timeout.ms")

    async def start(self, *, timeout_ms: int | None = None) -> None:
        """Connects; `async with` does it. Tries for `socket.connection.setup.timeout.ms` unless told otherwise, and
        never for longer than a call would (`default.api.timeout.ms`).

        Raises `NoBrokersAvailableError`, which says what was tried, or `AuthenticationFailedError`.
        """
        if timeout_ms is None:
            timeout_ms = min(self._settings.integer("socket.connection.setup.timeout.ms"), self.api_timeout_ms)
        await self._cluster.start(timeout_ms=timeout_ms)

    async def close(self) -> None:
        """Ends all connections; calls that wait fail."""
        await self._cluster.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Names what to call instead, for users of other clients."""
            raise other_client.missing(self, name, other_client.ADMIN)


class _Directory:
    """Finds nodes in what the cluster client knows."""

    def __init__(self, cluster: ClusterClient) -> None:
        self._cluster: Final = cluster

    def node(self, node_id: int) -> Node:
        """A node that can be asked; one that has just gone has no address any more."""
        found = self._cluster.view.brokers.get(node_id)
        return Node(node_id, "", -1) if found is None else Node(node_id, found.host, found.port, found.rack)


def _cluster(settings: ClientSettings) -> ClusterClient:
    brokers, controllers = settings.list("bootstrap.servers"), settings.list("bootstrap.controllers")
    if brokers and controllers:
        raise ConfigError("bootstrap.controllers", ",".join(controllers), "bootstrap.servers is set as well: give one")
    if not brokers and not controllers:
        raise ConfigError("bootstrap.servers", "", "it says whom to connect to: host:port, separated by commas")
    return ClusterClient(settings) if brokers else ControllerCluster(settings)
