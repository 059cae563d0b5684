"""The addresses of a replica by listener name, to and from the many messages that carry them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, Protocol, TypeVar

from ottla.base.frozen import frozen

Listener = TypeVar("Listener")


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int


class NamedListener(Protocol):
    """The common fields of the endpoint structs of all messages."""

    name: str
    host: str
    port: int


class NodeAddress(Protocol):
    """The common fields of the `node_endpoints` structs of all responses."""

    node_id: int
    host: str
    port: int


@frozen
class Endpoints:
    """The addresses of one replica by listener name.

    >>> Endpoints({"CONTROLLER": Address("c1", 9093)}).address("CONTROLLER")
    Address(host='c1', port=9093)
    """

    by_listener: Mapping[str, Address]

    @classmethod
    def of(cls, listeners: Iterable[NamedListener]) -> "Endpoints":
        """From the structs of a message."""
        return cls({entry.name: Address(entry.host, entry.port) for entry in listeners})

    @classmethod
    def of_node(cls, listener: str, node_id: int, nodes: Iterable[NodeAddress]) -> "Endpoints":
        """The one address that a response gives for a node, which is that of the listener it was asked on."""
        for node in nodes:
            if node.node_id == node_id:
                return cls({listener: Address(node.host, node.port)})
        return NO_ENDPOINTS

    def address(self, listener: str) -> Address | None:
        """The address of one listener."""
        return self.by_listener.get(listener)

    def listeners(self, make: Callable[..., Listener]) -> list[Listener]:
        """The endpoints as structs of a message."""
        return [make(name=name, host=address.host, port=address.port) for name, address in self]

    def __iter__(self) -> Iterator[tuple[str, Address]]:
        return iter(self.by_listener.items())

    def __len__(self) -> int:
        return len(self.by_listener)

    def __str__(self) -> str:
        shown = ", ".join(f"ListenerName({name})={address.host}/<unresolved>:{address.port}" for name, address in self)
        return f"Endpoints(endpoints={{{shown}}})"


NO_ENDPOINTS: Final = Endpoints({})
