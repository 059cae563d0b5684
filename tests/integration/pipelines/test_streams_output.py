"""The transaction of one task of an application, without Spark: each micro-batch once, however often it is run."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ottla.base.errors import OttlaError
from ottla.client.admin.blocking_admin import Admin
from ottla.streams.engine.topology import Topology
from ottla.streams.errors import StreamsError
from tests.integration.pipelines.committed import committed_values, wait_for_markers
from tests.integration.pipelines.conftest import CreateTopic
from tests.kafka.server import Server

pytest.importorskip("pyspark", reason="needs pyspark: pip install ottla[spark]")

from pathlib import Path

from ottla.pipelines.streams import task_output
from ottla.pipelines.streams.group_position import TICK, GroupPosition
from ottla.pipelines.streams.output_column import rows_of
from ottla.pipelines.streams.shipment import Shipment
from ottla.pipelines.streams.task_output import TransactionalOutput
from ottla.pipelines.streams.task_partition import TaskPartition
from ottla.streams.host.application import Application
from ottla.streams.host.output_column import OutputColumns

TIMES = {"0_0": {"": (7,)}}


class Place:
    """Where the tasks of one partition number read and write."""

    def __init__(self, broker: Server, source: str, target: str) -> None:
        application = Application(Topology(), f"app-of-{source}", {})
        self._writer = {"bootstrap.servers": broker.bootstrap}
        self.shipment = Shipment(application, Path("/nowhere"), True, self._writer, None)
        self.source, self.target, self._broker = source, target, broker

    def output(self) -> TransactionalOutput:
        """Of a process that has not run the task before."""
        task_output._kept.clear()
        return TransactionalOutput(self.shipment, 0)

    def task(self, start: int, end: int, *ticks: int) -> TaskPartition:
        positions: list[dict[str, int]] = [{self.source: start}, {self.source: end}]
        for position, tick in zip(positions, ticks, strict=False):
            position[TICK] = tick
        return TaskPartition(0, [], (positions[0], positions[1]))

    def rows(self, values: Sequence[str]) -> Iterator[Any]:
        columns = OutputColumns(self.target)
        for value in values:
            columns.add(b"k", value.encode(), 5, ())
        yield rows_of(columns)

    def write(self, output: TransactionalOutput, task: TaskPartition, *values: str) -> None:
        output.write(self.rows(values), lambda: GroupPosition(task.end, TIMES))

    def read(self, admin: Admin) -> list[bytes | None]:
        wait_for_markers(admin, self.target)
        return committed_values(self._broker.bootstrap, self.target)


@pytest.fixture
def place(broker: Server, topic: CreateTopic) -> Place:
    return Place(broker, topic(), topic())


def test_a_batch_that_is_written_is_known_by_every_process(place: Place, admin: Admin) -> None:
    task, output = place.task(0, 3), place.output()
    assert output.begin(task)
    place.write(output, task, "a", "b")
    again = place.output()
    assert not again.begin(task)
    assert again.settle() == GroupPosition(task.end, TIMES)
    assert place.read(admin) == [b"a", b"b"]


def test_one_process_goes_on_from_batch_to_batch(place: Place, admin: Admin) -> None:
    output = place.output()
    for number in range(5):
        task = place.task(number, number + 1)
        assert output.begin(task)
        place.write(output, task, str(number))
    assert place.read(admin) == [b"0", b"1", b"2", b"3", b"4"]


def test_tasks_that_are_believed_dead_write_nothing(place: Place, admin: Admin) -> None:
    first, task = place.task(0, 1), place.task(1, 2)
    slow = place.output()
    assert slow.begin(first)
    place.write(slow, first, "first")
    assert slow.begin(task)
    second = place.output()
    assert second.begin(task)
    place.write(second, task, "second")
    with pytest.raises(OttlaError):
        place.write(slow, task, "slow")
    assert not place.output().begin(task)
    assert place.read(admin) == [b"first", b"second"]


def test_what_was_left_open_is_aborted_by_the_next_run(place: Place, admin: Admin) -> None:
    task, output = place.task(0, 1), place.output()
    assert output.begin(task)

    def dies() -> Iterator[Any]:
        yield from place.rows(["lost"] * 10)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        output.write(dies(), lambda: GroupPosition(task.end, TIMES))
    again = place.output()
    assert again.begin(task)
    place.write(again, task, "kept")
    assert place.read(admin) == [b"kept"]


def test_a_batch_of_a_tick_alone_is_written_once(place: Place, admin: Admin) -> None:
    for tick in (1, 2):
        task, output = place.task(5, 5, tick - 1, tick), place.output()
        assert output.begin(task)
        place.write(output, task, f"tick {tick}")
        assert not place.output().begin(task)
    assert place.read(admin) == [b"tick 1", b"tick 2"]


def test_a_checkpoint_that_went_back_is_refused(place: Place) -> None:
    task, output = place.task(0, 9), place.output()
    assert output.begin(task)
    place.write(output, task)
    with pytest.raises(StreamsError, match="delete its checkpoint"):
        place.output().begin(place.task(3, 6))
