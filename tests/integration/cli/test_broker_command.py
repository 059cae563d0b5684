"""`ottla broker` as a new user runs it: it is there at once, says where, serves, and stops when told to."""

import resource
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

from ottla.client import Producer
from ottla.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.integration.cli.running import Running, running
from tests.kafka.port import free_port
from tests.kafka.wire import Wire

MAIN = "ottla.cli.main"
CLEAN_MARK = ".kafka_cleanshutdown"


def _brokers(address: tuple[str, int]) -> list[tuple[str, int]]:
    with Wire(address) as wire:
        answer = wire.ask(MetadataRequest(topics=[]), 9)
    assert isinstance(answer, MetadataResponse)
    return [(broker.host, broker.port) for broker in answer.brokers]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_formats_serves_and_stops_in_order(tmp_path: Path, number: signal.Signals) -> None:
    port, http = free_port(), free_port()
    arguments = ("broker", "--listen", str(port), "--http", str(http))
    for kind in ("new", "existing"):
        with running(MAIN, *arguments, directory=tmp_path) as node:
            said, _, controller = node.wait_for("Ready").partition("/metrics, controller on port ")
            assert said == (
                f"Ready. Connect with bootstrap.servers=127.0.0.1:{port} ({kind} data in ottla-data, "
                f"metrics at http://127.0.0.1:{http}"
            )
            assert controller.endswith(", not for clients). Ctrl-C stops.")
            assert _brokers(("127.0.0.1", port)) == [("127.0.0.1", port)]
            with urllib.request.urlopen(f"http://127.0.0.1:{http}/readyz") as answer:
                assert answer.status == 200
            assert node.end(number) == 0
            assert node.lines == [node.lines[0]], "nothing else is said"
        assert (tmp_path / "ottla-data" / CLEAN_MARK).exists()


def test_clients_are_told_the_address_they_dialled(tmp_path: Path) -> None:
    port = free_port()
    with running(MAIN, "broker", "--listen", f"0.0.0.0:{port}", "--http", "off", directory=tmp_path) as node:
        assert f"bootstrap.servers=localhost:{port} " in node.wait_for("Ready")
        assert _brokers(("127.0.0.1", port)) == [("127.0.0.1", port)]
        assert _brokers(("127.0.0.2", port)) == [("127.0.0.2", port)]


def test_a_port_that_is_taken_is_named_with_a_way_out(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with running(MAIN, "broker", "--listen", str(port), "--http", "off", directory=tmp_path) as node:
            assert node.wait() == 1
            assert f"ottla: port {port} is in use by another process" in node.lines[0]
            assert "ottla broker --listen 127.0.0.1:" in node.lines[0]
            assert not (tmp_path / "ottla-data").exists()


def test_a_taken_port_for_metrics_is_named_by_its_option(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with running(MAIN, "broker", "--listen", "127.0.0.1:0", "--http", str(port), directory=tmp_path) as node:
            assert node.wait() == 1
            assert f"ottla: port {port} is in use by another process" in node.lines[0]
            assert "ottla broker --http 127.0.0.1:" in node.lines[0]
            assert not (tmp_path / "ottla-data").exists()


def test_an_address_of_another_machine_is_no_taken_port(tmp_path: Path) -> None:
    # 192.0.2.0/24 belongs to no machine (RFC 5737).
    with running(MAIN, "broker", "--listen", "192.0.2.1:9092", "--http", "off", directory=tmp_path) as node:
        assert node.wait() == 1
        assert node.lines == ["ottla: --listen 192.0.2.1:9092: cannot listen there: Cannot assign requested address"]
        assert not (tmp_path / "ottla-data").exists()


def test_a_second_one_on_the_same_data_is_refused(tmp_path: Path) -> None:
    with running(MAIN, "broker", "--listen", str(free_port()), "--http", "off", directory=tmp_path) as first:
        first.wait_for("Ready")
        with running(MAIN, "broker", "--listen", str(free_port()), "--http", "off", directory=tmp_path) as second:
            assert second.wait() == 1
            assert second.lines == [
                f"ottla: ottla-data is in use by another broker, process {first.process.pid}. Stop that one, or give "
                "this one a directory and a port of its own: ottla broker --data DIR --listen PORT"
            ]
        assert first.end() == 0


def test_a_disk_that_takes_no_more_is_named_in_the_last_line(tmp_path: Path) -> None:
    small = ("--override", "log.index.size.max.bytes=4096", "--override", "num.partitions=1")
    port = free_port()
    arguments = ("broker", "--listen", str(port), "--http", "off", *small)
    with running(MAIN, *arguments, directory=tmp_path) as node:
        node.wait_for("Ready")
        # The system refuses files beyond this size, as it refuses any on a full disk.
        resource.prlimit(node.process.pid, resource.RLIMIT_FSIZE, (500_000, 500_000))
        settings = {"bootstrap.servers": f"127.0.0.1:{port}", "delivery.timeout.ms": 2000, "request.timeout.ms": 1000}
        with Producer(settings, linger_ms=0) as producer:
            sent = producer.send("orders", b"x" * 900_000)
            assert node.wait() == 1
            assert sent.exception() is not None
        fatal = next(line for line in node.lines if "FATAL" in line)
        assert "no log directory is left (" in fatal
        assert "00000000000000000000.log: File too large" in fatal


def test_settings_that_deserve_a_word_get_one_line(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("background.threads=8\nnum.network.threads=3\nnum.partition=3\nsuper.users=User:a\n")
    arguments = ("broker", str(file), "--listen", str(free_port()), "--http", "off")
    with running(MAIN, *arguments, directory=tmp_path) as node:
        node.wait_for("Ready")
        assert [line.partition("] ")[2] for line in node.lines[:-1]] == [
            "WARN unknown configuration num.partition (did you mean num.partitions?) (ottla.cli.serving)",
            "WARN These settings are accepted, but nothing acts on them: background.threads, num.network.threads "
            "(ottla.cli.serving)",
        ]
    with running(MAIN, *arguments, "--strict", directory=tmp_path) as node:
        assert node.wait() == 1
        assert node.lines == [
            f"ottla: {file}, line 3: unknown configuration num.partition (did you mean num.partitions?)"
        ]


def test_a_file_of_an_older_kafka_is_translated_in_one_line(tmp_path: Path) -> None:
    file, port = tmp_path / "server.properties", free_port()
    file.write_text(
        f"broker.id=3\nport={port}\nhost.name=127.0.0.1\nzookeeper.connect=localhost:2181\n"
        "controlled.shutdown.max.retries=3\nlog.dirs=data\n"
    )
    with running(MAIN, "broker", str(file), "--http", "off", directory=tmp_path) as node:
        assert f"bootstrap.servers=127.0.0.1:{port} " in node.wait_for("Ready")
        assert node.lines[0] == (
            f"ottla: {file}: settings of an older Kafka: port={port} is read as "
            f"listeners=PLAINTEXT://127.0.0.1:{port}; host.name is left out, since listeners has it; zookeeper.connect "
            "is left out, since there is no ZooKeeper any more: without controller.quorum.bootstrap.servers a node is "
            "a cluster of its own. "
            f"`ottla config upgrade {file}` prints it for 4.3."
        )
        assert "WARN controlled.shutdown.max.retries is gone from Kafka 4.3: a node leaves" in node.lines[1]
        assert _brokers(("127.0.0.1", port)) == [("127.0.0.1", port)]
        assert node.end() == 0


def test_a_bad_value_refuses_to_start_and_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("# mine\nnum.partitions=none\n")
    with running(MAIN, "broker", str(file), directory=tmp_path) as node:
        assert node.wait() == 1
        assert node.lines == [
            f"ottla: {file}, line 2: Invalid value none for configuration num.partitions: Not a number of type INT"
        ]


def test_protection_that_cannot_be_given_is_not_left_out_in_silence(tmp_path: Path) -> None:
    more = ("--override", "authorizer.class.name=com.example.Guard")
    with running(MAIN, "broker", "--listen", str(free_port()), "--http", "off", *more, directory=tmp_path) as node:
        assert node.wait() == 1
        _assert_one_fatal_line(node, "Invalid value com.example.Guard for configuration authorizer.class.name")


def _assert_one_fatal_line(node: Running, text: str) -> None:
    assert len(node.lines) == 1
    assert "FATAL" in node.lines[0]
    assert text in node.lines[0]
