"""The common base of the admin client's areas."""

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from ottla.base.errors import OttlaError
from ottla.client.admin.channel import ANY_NODE, CONTROLLER, AdminChannel
from ottla.client.admin.route import CoordinatorFinder, fixed
from ottla.client.admin.value.acl import AclOperation
from ottla.client.admin.value.cluster import Node
from ottla.protocol.errors import ThrottlingQuotaExceededError
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse

K = TypeVar("K")
V = TypeVar("V")

NOT_TOLD: Final = -(2**31)
"""The set of authorized operations in an answer to a request that did not ask for it."""


class NodeDirectory(Protocol):
    """Knows the nodes' addresses."""

    def node(self, node_id: int) -> Node:
        """A node that can be asked."""
        ...


class AdminOperations:
    """Has the channel to ask through; the areas add the questions."""

    _channel: AdminChannel
    _coordinators: CoordinatorFinder
    _nodes: NodeDirectory

    async def _broker_ids(self) -> list[int]:
        """The brokers that live now, for questions that go to all of them."""
        response = await self._channel.ask(ANY_NODE, MetadataRequest(topics=[]), MetadataResponse)
        return sorted(broker.node_id for broker in response.brokers)

    async def _ask_controller(
        self, keys: list[K], ask: Callable[[list[K]], Awaitable[dict[K, V | OttlaError]]]
    ) -> dict[K, V | OttlaError]:
        """Asks the controller about keys, and again about those alone that it was too busy for (KIP-599)."""

        async def ask_node(_node: int, asked: list[K]) -> dict[K, V | OttlaError]:
            return await self._channel.persist(lambda: ask(asked))

        return await self._channel.ask_each(
            keys, fixed(CONTROLLER), ask_node, may_retry=lambda error: isinstance(error, ThrottlingQuotaExceededError)
        )


def authorized_operations(bits: int) -> frozenset[AclOperation] | None:
    """The operations whose bits are set (KIP-430).

    >>> sorted(operation.name for operation in authorized_operations(1 << 3 | 1 << 8))
    ['DESCRIBE', 'READ']
    """
    if bits == NOT_TOLD:
        return None
    return frozenset(operation for operation in AclOperation if operation > AclOperation.ALL and bits >> operation & 1)
