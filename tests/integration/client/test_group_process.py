"""Whole consumers in processes of their own: kill -9, rolling restarts, and rebalances that stop nobody."""

import itertools
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from tests.clients.client import confluent
from tests.clients.patience import until
from tests.clients.server import kinds, start_server
from tests.clients.topic import create
from tests.integration.client.consumer_process import ConsumerProcess
from tests.integration.client.test_group_membership import QUICK_GROUPS, by
from tests.kafka.server import Server

_numbers = itertools.count(1)
Start = Callable[..., ConsumerProcess]


@pytest.fixture(scope="module", params=kinds())
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # A process takes its time to start on a busy machine; until then its static member must not be given up.
    patient = {**QUICK_GROUPS, "group_consumer_session_timeout_ms": "20000"}
    started = start_server(request.param, tmp_path_factory.mktemp(request.param), **patient)
    yield started
    started.stop()


@pytest.fixture
def topic(server: Server) -> str:
    """Six partitions."""
    name = f"topic-{next(_numbers)}"
    create(server, name, 6)
    return name


@pytest.fixture
def start(server: Server, topic: str, tmp_path: Path) -> Iterator[Start]:
    """Starts consumers of the topic, all in one group."""
    with ExitStack() as started:

        def one(**settings: object) -> ConsumerProcess:
            output = tmp_path / f"consumer-{next(_numbers)}"
            process = ConsumerProcess(output, server.bootstrap, f"group-of-{topic}", topic, **settings)
            return started.enter_context(process)

        yield one


def produce(server: Server, topic: str, partitions: range, count: int) -> None:
    """Writes so many records into each of these partitions."""
    producer = confluent.producer(server.bootstrap, linger_ms=0)
    for partition in partitions:
        for number in range(count):
            producer.produce(topic, b"%d" % number, partition=partition)
    assert producer.flush(60) == 0


def share(*processes: ConsumerProcess) -> list[int]:
    """How many partitions each has; nothing as long as two have the same one."""
    owned = [process.owned() for process in processes]
    return sorted(map(len, owned)) if len(set().union(*owned)) == sum(map(len, owned)) else []


def settle(*processes: ConsumerProcess) -> None:
    """Waits until the group has told nobody anything for several heartbeats: no rebalance follows any more."""
    told = None
    while told != (told := [process.told() for process in processes]):
        time.sleep(2)


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky", "consumer"])
def test_kill_9_loses_nothing(server: Server, topic: str, start: Start, protocol: str) -> None:
    processes = [start(**by(protocol)) for _ in range(3)]
    until([2, 2, 2], lambda: share(*processes))
    produce(server, topic, range(6), 20)
    until(120, lambda: len({record for process in processes for record in process.records()}))
    victim, *others = processes
    victim.kill()
    produce(server, topic, range(6), 20)
    until([3, 3], lambda: share(*others))
    until(240, lambda: len({record for process in processes for record in process.records()}))
    for process in others:
        assert not any(line.startswith("lost") for line in process.told())


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky", "consumer"])
def test_static_members_restart_one_by_one_without_a_rebalance(start: Start, protocol: str) -> None:
    settings = {**by(protocol), "session_timeout_ms": 45_000} if protocol != "consumer" else by(protocol)
    processes = [start(group_instance_id=f"i-{number}", **settings) for number in range(3)]
    until([2, 2, 2], lambda: share(*processes))
    settle(*processes)
    for number in range(3):
        had = processes[number].owned()
        told = [process.told() for process in processes]
        processes[number].stop()
        processes[number] = start(group_instance_id=f"i-{number}", **settings)
        until(had, processes[number].owned)
        for other in {0, 1, 2} - {number}:
            assert processes[other].told() == told[other]


@pytest.mark.parametrize("protocol", ["cooperative-sticky", "consumer"])
def test_what_does_not_move_is_read_through_the_rebalance(
    server: Server, topic: str, start: Start, protocol: str
) -> None:
    """A member that was stopped keeps the rebalance of two others from ending, and they read on."""
    reader, sleeper = start(**by(protocol)), start(**by(protocol))
    until([3, 3], lambda: share(reader, sleeper))
    sleeper.send(signal.SIGSTOP)
    newcomer = start(**by(protocol))
    rounds = 0
    while not newcomer.owned():
        rounds += 1
        produce(server, topic, range(6), 5)
        until(True, partial(reads_all, reader, 5 * rounds))
    assert reader.owned()
    assert rounds > 1, "the rebalance ended before anything could be read"
    assert sum(line.startswith("revoked") for line in reader.told()) <= 2
    assert not any(line.startswith("lost") for line in reader.told())


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky", "consumer"])
def test_who_sleeps_through_its_session_has_lost_everything_and_comes_back(start: Start, protocol: str) -> None:
    one, sleeper = start(**by(protocol)), start(**by(protocol))
    until([3, 3], lambda: share(one, sleeper))
    settle(one, sleeper)
    had, told = sleeper.owned(), len(sleeper.told())
    sleeper.send(signal.SIGSTOP)
    until(6, lambda: len(one.owned()))
    sleeper.send(signal.SIGCONT)
    until([3, 3], lambda: share(one, sleeper))
    assert sleeper.told()[told] == " ".join(["lost", *map(str, sorted(had))])
    assert not any(line.startswith("lost") for line in one.told())


def reads_all(process: ConsumerProcess, count: int) -> bool:
    """Whether it has read that many records of each partition that it has."""
    records = set(process.records())
    return all((number, count - 1) in records for number in process.owned())
