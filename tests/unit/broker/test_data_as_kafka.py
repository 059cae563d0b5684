"""The data path answers what Apache Kafka 4.3.1 answered to the very same requests, but for what is listed here."""

import json
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.base.ids import Uuid
from tests.integration.broker.data.performance import ANSWERS, SCENES, TOPICS, play
from tests.integration.broker.data.produce_script import START
from tests.integration.broker.data.wire import CLOSED, SILENT, Talk
from tests.unit.broker.data_broker import DataBroker
from tests.unit.broker.recorder import RecordedConnection, RecordedExchange

KAFKA = json.loads(ANSWERS.read_text())

NOT_HERE = {"frame: versions"}
"""Compared by `test_api_table`: fewer calls are served."""

_REFUSED_TXN = (
    "TopicProduceResponse(name='txn', partition_responses=[PartitionProduceResponse(error_code=53, base_offset=-1)])"
)
_REFUSED_NOBODY = (
    "TopicProduceResponse(name='nobody', partition_responses=[PartitionProduceResponse(index=3, error_code=53, "
    "base_offset=-1)])"
)
OTHERWISE = {
    # The order of the request, where Kafka has that of a hash table.
    ("produce: transactions", "no id, all partitions"): (
        f"ProduceResponse(responses=[{_REFUSED_TXN}, {_REFUSED_NOBODY}])"
    ),
}
"""Where we do otherwise, and what we say."""


class Inside(Talk):
    """Straight into the pipeline; time passes for whoever waits for an answer."""

    def __init__(self, broker: DataBroker) -> None:
        super().__init__()
        self._broker = broker
        self._connection = RecordedConnection()
        self._exchanges: deque[RecordedExchange] = deque()

    def close(self) -> None:
        self._connection = RecordedConnection()
        self._exchanges.clear()

    def send_raw(self, frame: bytes) -> None:
        if self._connection.is_open:
            exchange = RecordedExchange(self._connection)
            buffer = bytearray(frame[4:])
            with memoryview(buffer) as view:
                self._broker.pipeline.received(view, exchange)  # type: ignore[arg-type]
            # Fails if anybody holds on to the frame, which belongs to the next request now.
            buffer.clear()
            if not exchange.has_no_answer:
                self._exchanges.append(exchange)

    def hear(self) -> bytes | str:
        if not self._connection.is_open:
            self.close()
            return CLOSED
        exchange = self._exchanges.popleft()
        self._broker.loop.advance(0 if exchange.is_done else 10_000)
        return SILENT if exchange.frame is None else exchange.frame[4:]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inside, dict[str, Uuid]]]:
    broker = DataBroker(Path(tmp_path_factory.mktemp("broker")), now_ms=START)
    ids = {
        name: broker.create(name, **{key.replace(".", "_"): value for key, value in configs.items()})
        for name, configs in TOPICS.items()
    }
    yield Inside(broker), ids
    broker.close()


@pytest.mark.parametrize("scene", [name for name in SCENES if name not in NOT_HERE])
def test_every_scene_sounds_alike(scene: str, stage: tuple[Inside, dict[str, Uuid]]) -> None:
    heard = {line: comparable(said) for line, said in play(scene, *stage).items()}
    expected = {line: comparable(OTHERWISE.get((scene, line), said)) for line, said in KAFKA[scene].items()}
    assert heard == expected


def comparable(said: str) -> str:
    """Without what is said in words about single records."""
    return re.sub(r"record_errors=.*", "record_errors", said)
