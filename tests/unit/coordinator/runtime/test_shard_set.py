"""Shards come and go with leadership, and late news change nothing."""

from typing import Any

import pytest

from ottla.coordinator.ports import TransactionalProducer, TransactionMarker
from ottla.coordinator.runtime.shard import Shard
from ottla.coordinator.runtime.shard_set import ShardSet
from ottla.coordinator.runtime.timers import Timers
from ottla.protocol.errors import NotCoordinatorError
from tests.unit.coordinator.runtime.fake import Answers, MemoryLog, NumberMachine, Numbers, setting


class Broker:
    """A broker's shards on logs in memory, which are loaded when asked."""

    def __init__(self) -> None:
        self.logs: dict[int, MemoryLog] = {}
        self.loading: list[Shard[Numbers]] = []
        self.flushes_wanted = 0
        self.shards = ShardSet(self._open, self.loading.append, self._wants_flush)

    def load(self) -> None:
        while self.loading:
            shard = self.loading.pop()
            log = self.logs[shard.partition]
            log.commits_at_once = shard
            shard.committed(log.end_offset)
            log.load_into(shard)

    def _open(self, partition: int, leader_epoch: int) -> Shard[Numbers]:
        return Shard(partition, NumberMachine(), self.logs.setdefault(partition, MemoryLog()), Timers())

    def _wants_flush(self) -> None:
        self.flushes_wanted += 1


def test_nobody_leads_at_first() -> None:
    shards = Broker().shards
    answers = Answers()
    shards.write(3, setting("a", 1), answers, 0)
    shards.write_transactional(3, setting("a", 1), TransactionalProducer("tx", 1, 1), answers, 0)
    shards.write_marker(3, TransactionMarker(1, 1, 0, committed=True), answers, 0)
    assert [type(answer) for answer in answers.given] == [NotCoordinatorError] * 3
    with pytest.raises(NotCoordinatorError):
        shards.get(3)
    shards.committed(3, 10)
    assert (shards.next_ms, shards.leader_epoch(3), shards.active) == (None, -1, [])


def test_elected_loaded_and_flushed() -> None:
    broker = Broker()
    broker.shards.elected(3, 7)
    assert broker.shards.active == []
    broker.load()
    answers = Answers()
    broker.shards.write(3, setting("a", 1), answers, 0)
    broker.shards.write(3, setting("b", 1), answers, 0)
    assert broker.flushes_wanted == 1
    broker.shards.flush(0)
    assert answers.given == [None, None]
    assert broker.shards.leader_epoch(3) == 7
    assert [shard.partition for shard in broker.shards.active] == [3]


def test_a_broker_that_leads_on_keeps_its_state() -> None:
    broker = Broker()
    broker.shards.elected(0, 1)
    broker.load()
    before = broker.shards.get(0)
    broker.shards.elected(0, 2)
    assert broker.shards.get(0) is before
    assert broker.shards.leader_epoch(0) == 2


@pytest.mark.parametrize("epoch", [0, 1])
def test_late_news_are_ignored(epoch: int) -> None:
    broker = Broker()
    broker.shards.elected(0, 2)
    broker.load()
    shard = broker.shards.get(0)
    broker.shards.resigned(0, epoch)
    assert broker.shards.get(0) is shard
    broker.shards.resigned(0, 3)
    broker.shards.elected(0, epoch)
    with pytest.raises(NotCoordinatorError):
        broker.shards.get(0)


def test_a_replica_that_is_gone_may_come_back_in_any_epoch() -> None:
    broker = Broker()
    broker.shards.elected(0, 5)
    broker.shards.resigned(0, None)
    broker.shards.elected(0, 1)
    assert broker.shards.leader_epoch(0) == 1


def test_the_next_leader_sees_what_the_last_one_wrote() -> None:
    broker = Broker()
    broker.shards.elected(0, 1)
    broker.load()
    broker.shards.write(0, setting("a", 1), Answers(), 0)
    broker.shards.flush(0)
    broker.shards.resigned(0, 2)
    broker.shards.elected(0, 3)
    broker.load()
    assert broker.shards.get(0).read(lambda state: dict(state.by_name)) == {"a": 1}


def test_a_shard_that_lost_track_of_its_log_is_loaded_again() -> None:
    broker = Broker()
    broker.shards.elected(0, 1)
    broker.load()
    shard = broker.shards.get(0)
    key, value = shard.machine.encode(setting("b", 2)(shard.state, 0).records[0])
    broker.logs[0].append([(key, value)], None)
    answers: Any = Answers()
    broker.shards.write(0, setting("a", 1), answers, 0)
    broker.shards.flush(0)
    assert isinstance(answers.only, NotCoordinatorError)
    broker.load()
    again = broker.shards.get(0)
    assert again is not shard
    assert again.read(lambda state: dict(state.by_name)) == {"a": 1, "b": 2}


def test_timers_of_all_shards_run() -> None:
    broker = Broker()
    for partition in (0, 1):
        broker.shards.elected(partition, 1)
    broker.load()
    broker.shards.get(0).timers.set("t", 20, setting("a", 1))
    broker.shards.get(1).timers.set("t", 10, setting("a", 1))
    assert broker.shards.next_ms == 10
    broker.shards.poll(10)
    assert broker.shards.next_ms == 20
    broker.shards.poll(20)
    broker.shards.flush(20)
    assert [len(shard.state.by_name) for shard in broker.shards] == [1, 1]
