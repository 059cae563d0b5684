"""A machine's clock that is set while the node runs, as a time server does it, costs no group and no transaction."""

import asyncio
from pathlib import Path

import pytest

from ottla.base.system_clock import SystemClock
from ottla.broker.node.node import Node
from ottla.client import Admin, Consumer, NewTopic, Producer, TopicPartition
from tests.integration.node.nodes import PATIENCE_S, PLAINTEXT, formatted

HOUR_MS = 3_600_000
PLACE = TopicPartition("orders", 0)


class SetClock(SystemClock):
    """The machine's clock, and how wrong it is."""

    __slots__ = ("wrong_ms",)

    def __init__(self) -> None:
        self.wrong_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.wrong_ms


def use(bootstrap: str, clock: SetClock, change_ms: int) -> None:
    with Admin(bootstrap_servers=bootstrap) as admin:
        # A clock that is wrong by hours is wrong for clients' timestamps; this is about the broker's own.
        limits = {"message.timestamp.after.max.ms": str(24 * HOUR_MS)}
        admin.create_topics([NewTopic("orders", 1, 1, configs=limits), NewTopic("strict", 1, 1)])
    with (
        Producer({"bootstrap.servers": bootstrap, "transactional.id": "t"}) as producer,
        Consumer(bootstrap_servers=bootstrap, group_id="g", isolation_level="read_committed") as consumer,
    ):
        producer.init_transactions()
        for round_number in range(2):
            producer.begin_transaction()
            producer.send("orders", b"%d" % round_number).result(PATIENCE_S)
            if round_number == 0:
                clock.wrong_ms += change_ms
            producer.send_offsets_to_transaction({PLACE: round_number + 10}, "t-group")
            producer.commit_transaction()
            consumer.assign([PLACE])
            consumer.commit({PLACE: round_number + 1})
            found = consumer.committed([PLACE])[PLACE]
            assert found is not None
            assert found.offset == round_number + 1
        consumer.seek_to_beginning([PLACE])
        records = iter(consumer)
        assert [next(records).value for _ in range(2)] == [b"0", b"1"]


@pytest.mark.parametrize("change_hours", [-3, 3])
def test_groups_and_transactions_go_on(tmp_path: Path, change_hours: int) -> None:
    single = {f"{name}.{setting}": "1" for name in ("offsets.topic", "transaction.state.log")
              for setting in ("replication.factor", "num.partitions")}  # fmt: skip
    config = formatted(tmp_path, **single, **{"transaction.state.log.min.isr": "1"})

    async def run() -> None:
        clock = SetClock()
        node = Node(config, clock=clock)
        async with asyncio.timeout(PATIENCE_S):
            await node.start()
        try:
            host, port = node.listener_address(PLAINTEXT)
            await asyncio.to_thread(use, f"{host}:{port}", clock, change_hours * HOUR_MS)
        finally:
            await node.stop()

    asyncio.run(run())
