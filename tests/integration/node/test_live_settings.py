"""Numbers of threads and fetches that a running node follows, from a client's request to the part that acts on them."""

import asyncio
import os
from pathlib import Path

import pytest

from ottla.broker.batch_check import BatchChecks
from ottla.replication.follower.fetcher_pool import FetcherPool
from tests.integration.node.nodes import formatted, running, until
from tests.integration.node.test_listeners import alter


def test_threads_and_fetchers_follow_their_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks: list[int] = []
    fetchers: list[int] = []
    monkeypatch.setattr(BatchChecks, "change_threads", lambda self, threads: checks.append(threads))
    monkeypatch.setattr(FetcherPool, "resize", lambda self, per_leader: fetchers.append(per_leader))

    async def scenario() -> None:
        async with running(formatted(tmp_path, num_io_threads="2")) as node:
            answer = await alter(node, num_io_threads="1", num_replica_fetchers="2")
            assert (answer.error_code, answer.error_message) == (0, None)
            await until(lambda: checks and fetchers)
            assert (checks[-1], fetchers[-1]) == (1, 2)
            refused = await alter(node, num_io_threads="100")
            assert refused.error_code, "no more than twice as many at once, as in Apache Kafka"
            assert (await alter(node, num_io_threads="2")).error_code == 0
            await until(lambda: checks[-1] == min(2, os.cpu_count() or 1))

    asyncio.run(scenario())
