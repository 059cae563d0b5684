"""A cluster that answers from a script: what a consumer's parts ask, and what they make of the answers."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, cast

from ottla.base.errors import OttlaError
from ottla.base.ids import Uuid
from ottla.client.cluster.backoff import Backoff
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.cluster.cluster_view import BrokerView, ClusterView, PartitionView, TopicView
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.metric.client_metric import ClientMetrics
from ottla.protocol.definition import Request, Response
from ottla.protocol.fetch_session import FINAL_EPOCH
from ottla.protocol.messages.fetch import FetchRequest, FetchResponse

SETTINGS = ClientSettings.of(CONSUMER_KEYS, bootstrap_servers="nowhere:9092")
TOPIC_ID = Uuid(b"orders".ljust(16, b"."))

Answer = Callable[[Any], Response | OttlaError | asyncio.Future[FetchResponse] | None]
"""None: no answer for now."""


class ScriptedCluster:
    """Two brokers, the topic `orders` with one partition; answers are functions of the request, in turn."""

    def __init__(self, *answers: Answer) -> None:
        self.backoff = Backoff(0, 0)
        self.metrics = ClientMetrics(SETTINGS, "me")
        self.request_timeout_ms = 30_000
        self.view = ClusterView()
        self.asked: list[tuple[int, Any]] = []
        self.refreshes = 0
        self.leaders: list[tuple[object, ...]] = []
        self.ended_sessions: list[int] = []
        self._answers = list(answers)
        self.lead(broker_id=1, epoch=5)

    @property
    def client(self) -> ClusterClient:
        """As the parts take it."""
        return cast(ClusterClient, self)

    def lead(self, *, broker_id: int, epoch: int) -> None:
        """Makes a broker the leader of the partition."""
        partition = PartitionView(0, broker_id, epoch, (1, 2), (1, 2))
        self.view = ClusterView(
            brokers={number: BrokerView(number, f"broker-{number}", 9092) for number in (1, 2)},
            topics={"orders": TopicView("orders", TOPIC_ID, {0: partition})},
            names={TOPIC_ID: "orders"},
        )

    def refresh_soon(self) -> None:
        """Counts."""
        self.refreshes += 1

    def leader_changed(
        self, topic: str, partition: int, leader: int, epoch: int, endpoints: Iterable[BrokerView] = ()
    ) -> bool:
        """Believes who names a leader."""
        self.leaders.append((topic, partition, leader, epoch))
        return leader >= 0

    def ready_connection(self, node_id: int) -> None:
        """Nobody is connected yet."""
        return

    async def request(self, node_id: int, request: Request, **_: object) -> Response:
        """The next answer of the script; at its end the broker is silent."""
        if isinstance(request, FetchRequest) and request.session_id and request.session_epoch == FINAL_EPOCH:
            self.ended_sessions.append(request.session_id)
            return FetchResponse()
        if not self._answers:
            await asyncio.get_running_loop().create_future()
        self.asked.append((node_id, request))
        answer = self._answers.pop(0)(request)
        if isinstance(answer, asyncio.Future):
            answer = await answer
        if isinstance(answer, OttlaError):
            raise answer
        if answer is None:
            await asyncio.get_running_loop().create_future()
        assert answer is not None
        return answer
