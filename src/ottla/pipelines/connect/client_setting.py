"""The settings of the clients that a task makes, from the worker's and the connector's. Pure.

The worker's plain settings count for every client, so that brokers and security are said once; then come the worker's
with the client's prefix (`producer.`), what Connect itself needs, and the connector's (`producer.override.`).
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigKeys
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.consumer import CONSUMER_KEYS
from ottla.client.config.plugin import declared_keys
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.connect.pipeline.transform_chain import prefixed

_NOT_SHARED: Final = frozenset(
    {"client.id", "group.id", "metric.reporters", "metrics.num.samples", "plugin.path", "config.providers"}
)
"""Of the worker's own settings, those that are not meant for its clients."""
_PLUGINS: Final = ("partitioner.class", "interceptor.classes")
"""What may have settings of its own."""
_LONG_MS: Final = str(2**31 - 1)


def producer_settings(config: Mapping[str, str], worker: Mapping[str, str], task: int) -> dict[str, str]:
    """Those of a task's producer: it waits for brokers as long as it takes, as Kafka Connect's does.

    >>> given = producer_settings(
    ...     {"name": "n", "producer.override.linger.ms": "7"},
    ...     {"bootstrap.servers": "b:9092", "group.id": "w", "producer.acks": "1", "offset.storage.topic": "o"}, 0)
    >>> given["bootstrap.servers"], given["acks"], given["linger.ms"], given["client.id"], "group.id" in given
    ('b:9092', '1', '7', 'connector-producer-n-0', False)
    """
    own = {
        "client.id": f"connector-producer-{config['name']}-{task}",
        "max.block.ms": _LONG_MS,
        "delivery.timeout.ms": _LONG_MS,
    }
    return _layered(PRODUCER_KEYS, worker, own | prefixed(worker, "producer.") | prefixed(config, "producer.override."))


def consumer_settings(config: Mapping[str, str], worker: Mapping[str, str], task: int) -> dict[str, str]:
    """Those of a sink task's consumer."""
    own = {
        "client.id": f"connector-consumer-{config['name']}-{task}",
        "group.id": f"connect-{config['name']}",
        "auto.offset.reset": "earliest",
    }
    more = own | prefixed(worker, "consumer.") | prefixed(config, "consumer.override.")
    return _layered(CONSUMER_KEYS, worker, {**more, "enable.auto.commit": "false"})


def admin_settings(config: Mapping[str, str], worker: Mapping[str, str]) -> dict[str, str]:
    """Those of the client that makes topics."""
    return _layered(ADMIN_KEYS, worker, prefixed(worker, "admin.") | prefixed(config, "admin.override."))


def dead_letter_settings(config: Mapping[str, str], worker: Mapping[str, str], task: int) -> dict[str, str]:
    """Those of a sink's producer of dead letters."""
    given = producer_settings(config, worker, task)
    return {**given, "client.id": f"connector-dlq-producer-{config['name']}-{task}"}


def of_the_worker(config: Mapping[str, str]) -> dict[str, str]:
    """A connector's configuration for clients that are the worker's own: without its overrides.

    >>> of_the_worker({"name": "n", "file": "f", "producer.override.sasl.jaas.config": "j"})
    {'name': 'n'}
    """
    return {"name": config["name"]}


def _layered(keys: ConfigKeys, worker: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    shared = {name: value for name, value in worker.items() if name in ADMIN_KEYS and name not in _NOT_SHARED}
    plugins = declared_keys(more.get(name) for name in _PLUGINS)
    # Names that only Java's clients have (serializers, interceptors by class) are of no use here.
    return {
        name: value
        for name, value in {**shared, **more}.items()
        if (name in keys or name in plugins) and not _is_javas(name, value)
    }


def _is_javas(name: str, value: str) -> bool:
    return name.endswith((".serializer", ".deserializer")) or value.startswith("io.confluent.monitoring.")
