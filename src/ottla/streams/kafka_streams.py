"""`KafkaStreams(topology, config, host=…)`: runs a topology on the host of that name.

`spark` scales, and needs `ottla[spark]`; `local` is this process, and answers in milliseconds. Hosts are imported by
name, since the layer of Spark lies above this one.
"""

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, overload

from ottla.base.config import ConfigError
from ottla.streams.engine.topology import Topology
from ottla.streams.host.run_state import RunState

if TYPE_CHECKING:
    from ottla.streams.local.kafka_streams import KafkaStreams as LocalKafkaStreams

_HOSTS: Final = {"local": "ottla.streams.local.kafka_streams", "spark": "ottla.pipelines.streams.kafka_streams"}


class StreamsHost(Protocol):
    """The interface that every host implements; each has more of its own."""

    failure: Exception | None

    @property
    def state(self) -> RunState:
        """The present state, by the names of Kafka Streams."""
        ...

    def start(self) -> None:
        """Starts it and returns."""
        ...

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until it has ended; raises what it failed with."""
        ...

    def wait_for(self, state: RunState, timeout_s: float) -> bool:
        """Waits for a state; False if the time is over before, or it has failed."""
        ...

    def close(self, timeout_s: float | None = None) -> bool:
        """Ends it; False if the time is over before."""
        ...

    def clean_up(self) -> None:
        """Deletes the local state; only while it does not run."""
        ...

    def metrics(self) -> dict[str, Any]:
        """The host's figures, by name."""
        ...


@overload
def KafkaStreams(topology: Topology, config: Mapping[str, Any], *, host: Literal["local"]) -> "LocalKafkaStreams": ...


@overload
def KafkaStreams(topology: Topology, config: Mapping[str, Any], *, host: str = "spark") -> StreamsHost: ...


def KafkaStreams(topology: Topology, config: Mapping[str, Any], *, host: str = "spark") -> Any:  # noqa: N802
    """A topology that can be started.

    >>> from ottla.streams import StreamsBuilder
    >>> streams = KafkaStreams(
    ...     StreamsBuilder().build(), {"application.id": "shop", "bootstrap.servers": "localhost:9092"}, host="local"
    ... )
    >>> streams.state.value
    'CREATED'
    """
    if host not in _HOSTS:
        raise ConfigError("host", host, f"has to be one of {', '.join(_HOSTS)}")
    return importlib.import_module(_HOSTS[host]).KafkaStreams(topology, config)
