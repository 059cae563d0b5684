"""A cluster client for the length of a test."""

import contextlib
from collections.abc import AsyncIterator

from ottla.base.config import ConfigKeys
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings


@contextlib.asynccontextmanager
async def cluster_client(
    bootstrap: str, keys: ConfigKeys = PRODUCER_KEYS, **settings: object
) -> AsyncIterator[ClusterClient]:
    """A client that is connected, and closed in the end."""
    client = ClusterClient(ClientSettings.of(keys, bootstrap_servers=bootstrap, **settings))
    await client.start(timeout_ms=20_000)
    try:
        yield client
    finally:
        await client.close()
