"""The life of an embedded broker: started, stopped, killed, started again, and nothing left behind."""

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ottla.base.errors import OttlaError
from ottla.testing import BrokerDownError, EmbeddedBroker
from tests.integration.testing.traffic import CLEAN_SHUTDOWN_FILE, producer, read, write

BOTH = pytest.mark.parametrize("process", [False, True], ids=["thread", "process"])


@BOTH
def test_records_and_address_outlive_a_restart(process: bool) -> None:
    with EmbeddedBroker(process=process) as broker:
        address = broker.bootstrap_servers
        broker.create_topic("orders", partitions=2)
        client = producer(broker)
        assert write(client, "orders", b"one", b"two") == [0, 1]
        broker.stop()
        assert (Path(broker.data_directory) / CLEAN_SHUTDOWN_FILE).exists()
        broker.restart()
        assert broker.bootstrap_servers == address
        assert write(client, "orders", b"three") == [2]
        assert read(broker, "orders") == [b"one", b"two", b"three"]


@BOTH
def test_a_kill_leaves_what_was_acknowledged_and_no_mark_of_order(process: bool) -> None:
    with EmbeddedBroker(process=process) as broker:
        broker.create_topic("orders")
        client = producer(broker)
        for number in range(3):
            write(client, "orders", b"a%d" % number, b"b%d" % number)
            broker.kill()
            assert not broker.is_running
            assert not (Path(broker.data_directory) / CLEAN_SHUTDOWN_FILE).exists()
            broker.restart()
        assert read(broker, "orders") == [b"a0", b"b0", b"a1", b"b1", b"a2", b"b2"]


def test_a_kill_flushes_and_finishes_nothing() -> None:
    with EmbeddedBroker() as broker:
        broker.create_topic("orders")
        write(producer(broker), "orders", b"one")
        directory = Path(broker.data_directory)
        before = contents(directory)
        broker.kill()
        assert contents(directory) == before
        broker.restart()
        broker.stop()
        assert contents(directory) != before


def test_the_process_of_a_broker_is_its_own_and_is_killed() -> None:
    with EmbeddedBroker(process=True) as broker:
        pid = broker.pid
        assert pid != os.getpid()
        broker.kill()
        assert not Path(f"/proc/{pid}").exists()
        with pytest.raises(BrokerDownError):
            assert broker.pid
        broker.restart()
        assert broker.pid != pid
    with EmbeddedBroker() as broker:
        assert broker.pid == os.getpid()


def test_several_at_once_know_nothing_of_each_other() -> None:
    with EmbeddedBroker() as one, EmbeddedBroker() as other:
        assert one.bootstrap_servers != other.bootstrap_servers
        for broker, value in ((one, b"one"), (other, b"other")):
            broker.create_topic("orders")
            write(producer(broker), "orders", value)
        one.kill()
        assert read(other, "orders") == [b"other"]
        one.restart()
        assert read(one, "orders") == [b"one"]


def test_settings_are_the_broker_s() -> None:
    with EmbeddedBroker({"num.partitions": 3, "auto.create.topics.enable": False}) as broker:
        broker.create_topic("orders", configs={"retention.ms": 1000})
        topics = producer(broker).list_topics("orders", timeout=30).topics
        assert len(topics["orders"].partitions) == 3
        assert producer(broker).list_topics("unheard-of", timeout=30).topics["unheard-of"].error is not None
        with pytest.raises(OttlaError, match="already exists"):
            broker.create_topic("orders")
        with pytest.raises(OttlaError, match="retention"):
            broker.create_topic("others", configs={"retention.ms": "long"})


@BOTH
def test_a_wrong_setting_is_named_and_nothing_stays(process: bool) -> None:
    before = set(threading.enumerate())
    with pytest.raises(OttlaError, match=r"num\.partitions"), EmbeddedBroker({"num.partition": "3"}, process=process):
        pass
    with pytest.raises(OttlaError, match="many"), EmbeddedBroker({"num.partitions": "many"}, process=process):
        pass
    assert set(threading.enumerate()) == before


@BOTH
def test_a_port_that_is_taken_is_named(process: bool) -> None:
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        listeners = {"listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:0"}
        with pytest.raises(OttlaError, match=str(port)), EmbeddedBroker(listeners, process=process):
            pass
    assert set(threading.enumerate()) == before


@BOTH
def test_a_broker_that_is_down_says_so(process: bool) -> None:
    broker = EmbeddedBroker(process=process)
    with pytest.raises(BrokerDownError):
        assert broker.bootstrap_servers
    with pytest.raises(BrokerDownError):
        broker.create_topic("orders")
    with pytest.raises(BrokerDownError):
        broker.faults.drop("Produce")
    broker.close()
    with broker:
        broker.start()
        directory = broker.data_directory
    assert not Path(directory).exists()
    assert not broker.is_running


def test_twenty_lives_leave_nothing_behind() -> None:
    program = [sys.executable, "-m", "tests.integration.testing.lives"]
    ended = subprocess.run(program, capture_output=True, text=True, check=True)
    before, after = ended.stdout.splitlines()
    assert after == before
    assert before.endswith(", 0, 0)")


def test_one_that_is_never_closed_disturbs_no_exit() -> None:
    program = (
        "from ottla.testing import EmbeddedBroker\n"
        "broker = EmbeddedBroker()\n"
        "broker.start()\n"
        "broker.create_topic('orders')\n"
        "print(broker.data_directory)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    assert not Path(ended.stdout.strip()).exists()


def contents(directory: Path) -> dict[str, bytes]:
    """All files, but for the lock, which is not data."""
    return {str(path): path.read_bytes() for path in directory.rglob("*") if path.is_file() and path.name != ".lock"}
