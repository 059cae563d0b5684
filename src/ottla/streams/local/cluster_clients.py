"""The clients of a process: a consumer in the group, one that restores, a producer and an admin client."""

from typing import Final

from ottla.client.admin.async_admin import AsyncAdmin
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor
from ottla.client.consumer.async_consumer import AsyncConsumer
from ottla.client.producer.async_producer import AsyncProducer
from ottla.streams.local.setting import LocalSettings

_CLOSE_S: Final = 5.0


class ClusterClients:
    """Made anew by every `start`."""

    admin: AsyncAdmin
    producer: AsyncProducer
    restore_consumer: AsyncConsumer
    global_consumer: AsyncConsumer

    def __init__(self, settings: LocalSettings, process_id: str) -> None:
        self._settings: Final = settings
        self.process_id: Final = process_id
        self._name: Final = f"{settings.application_id}-{process_id}"
        self._is_started = False

    async def start(self) -> None:
        """Connects; exactly once, ends the transactions of the producer that had this name before."""
        settings, name = self._settings, self._name
        self.admin = AsyncAdmin({"client.id": f"{name}-admin", **settings.admin})
        self.restore_consumer = AsyncConsumer({"client.id": f"{name}-restore-consumer", **settings.restore_consumer})
        self.global_consumer = AsyncConsumer({"client.id": f"{name}-global-consumer", **settings.global_consumer})
        transactional = {"transactional.id": f"{name}-1"} if settings.is_exactly_once else {}
        self.producer = AsyncProducer({"client.id": f"{name}-producer", **settings.producer, **transactional})
        self._is_started = True
        await self.admin.start()
        await self.producer.start()
        if settings.is_exactly_once:
            await self.producer.init_transactions()

    def make_consumer(self, assignor: PartitionAssignor) -> AsyncConsumer:
        """The consumer of the group."""
        settings = self._settings
        return AsyncConsumer(
            {
                "client.id": f"{self._name}-consumer",
                **settings.consumer,
                "group.id": settings.application_id,
                "partition.assignment.strategy": [assignor],
            }
        )

    async def drop_consumer(self, consumer: AsyncConsumer) -> None:
        """Leaves the group."""
        await consumer.close(_CLOSE_S)

    async def close(self) -> None:
        """Ends all connections; what was not delivered is given up."""
        if not self._is_started:
            return
        self._is_started = False
        await self.producer.close(_CLOSE_S)
        await self.restore_consumer.close(_CLOSE_S)
        await self.global_consumer.close(_CLOSE_S)
        await self.admin.close()
