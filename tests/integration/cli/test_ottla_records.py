"""`ottla produce`, `consume`, `offsets`, `records` and `log` on a broker."""

import json
import signal
from pathlib import Path

import pytest

from ottla.testing import EmbeddedBroker
from tests.integration.cli.ottla_command import Ottla, terminal
from tests.integration.cli.running import running
from tests.kafka.port import free_port

ALL = ("--from", "beginning", "-e")


@pytest.fixture
def ottla(ottla_broker: EmbeddedBroker) -> Ottla:
    """The commands."""
    return Ottla(ottla_broker.bootstrap_servers)


def test_lines_go_in_and_come_out(ottla: Ottla, ottla_topic: str) -> None:
    done = ottla("produce", ottla_topic, "-k", ":", "-H", "source=test", "--json", stdin=b"a:1\r\nb:2\nc:3")
    assert done.document["records"] == 3
    shown = ottla("consume", ottla_topic, *ALL, "--format", "{key}={value} {headers.source}")
    assert sorted(shown.lines) == ["a=1 test", "b=2 test", "c=3 test"]


def test_json_is_copied_whole_from_topic_to_topic(ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str) -> None:
    lines = (
        b'{"key": "a", "value": {"n": 1}, "headers": {"h": "x"}, "timestamp": 1700000000000}\n\n'
        b'{"key_base64": "//4=", "value": null}\n'
    )
    assert ottla("produce", ottla_topic, "--format", "json", stdin=lines).code == 0
    copied = ottla("consume", ottla_topic, *ALL, "--json").out
    other = ottla_broker.create_topic(f"{ottla_topic}-copy", partitions=1)
    assert ottla("produce", other, "--format", "json", stdin=copied.encode()).code == 0
    again = ottla("consume", other, *ALL, "--json").out

    def content(text: str) -> list[dict[str, object]]:
        place = ("topic", "partition", "offset")
        records = [json.loads(line) for line in text.splitlines()]
        return [{name: value for name, value in record.items() if name not in place} for record in records]

    assert content(again) == content(copied)
    assert content(copied)[0] == {
        "timestamp": 1_700_000_000_000, "key": "a", "value": '{"n":1}', "headers": [{"name": "h", "value": "x"}],
    }  # fmt: skip


def test_a_bad_line_ends_it_with_its_number(ottla: Ottla, ottla_topic: str, tmp_path: Path) -> None:
    done = ottla("produce", ottla_topic, "-k", ":", stdin=b"a:1\nb\n")
    assert (done.code, done.err) == (1, "ottla: line 2: no ':' in it, which --key-separator asks for\n")
    file = tmp_path / "data.jsonl"
    file.write_text("{}\n")
    done = ottla("produce", ottla_topic, "--format", "json", "-f", str(file))
    assert f"ottla: {file}, line 1: it needs the form" in done.err


def test_reading_from_every_kind_of_point(ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str) -> None:
    topic = ottla_broker.create_topic(f"{ottla_topic}-one", partitions=1)
    lines = b"".join(b'{"value": "%d", "timestamp": %d}\n' % (n, 1_700_000_000_000 + n * 1000) for n in range(10))
    ottla("produce", topic, "--format", "json", stdin=lines)

    def values(*arguments: str) -> list[str]:
        return ottla("consume", topic, "-e", "--format", "{value}", *arguments).lines

    assert values("--from", "beginning") == [str(n) for n in range(10)]
    assert values("--from", "7") == ["7", "8", "9"]
    assert values("--from", "-2") == ["8", "9"]
    assert values("--from", "@1700000004500") == ["5", "6", "7", "8", "9"]
    assert values("--from", "2023-11-14T22:13:28Z") == ["8", "9"]
    assert values("--from", "end") == []
    assert values("--from", "beginning", "-n", "3") == ["0", "1", "2"]
    assert values("--from", "beginning", "--filter", "value > 6 and offset < 9") == ["7", "8"]
    offsets = ottla("offsets", topic, "--at", "@1700000004500", "--json").document
    assert [(found["start_offset"], found["end_offset"], found["offset"]) for found in offsets] == [(0, 10, 5)]
    assert offsets[0]["newest_timestamp"] == 1_700_000_009_000


def test_a_group_goes_on_exactly_behind_what_was_printed(
    ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str
) -> None:
    topic = ottla_broker.create_topic(f"{ottla_topic}-one", partitions=1)
    ottla("produce", topic, stdin=b"".join(b"%d\n" % n for n in range(10)))
    group = ("--group", f"{topic}-group", "--format", "{value}")
    assert ottla("consume", topic, *group, "--from", "beginning", "-n", "3").lines == ["0", "1", "2"]
    assert ottla("consume", topic, *group, "-n", "4").lines == ["3", "4", "5", "6"]
    assert ottla("consume", topic, *group, "-e").lines == ["7", "8", "9"]
    refused = ottla("consume", topic, *group, "--from", "5")
    assert "`ottla groups reset` moves one" in refused.err


def test_records_are_deleted_only_when_told(ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str) -> None:
    topic = ottla_broker.create_topic(f"{ottla_topic}-one", partitions=1)
    ottla("produce", topic, stdin=b"a\nb\nc\n")
    planned = ottla("records", "delete", topic, "--before", "2")
    assert planned.lines[-1] == "Nothing was deleted: add --execute to delete 2 records for good."
    assert len(ottla("consume", topic, *ALL).lines) == 3
    assert ottla("records", "delete", topic, "--before", "2", "--execute").lines[-1] == "Deleted 2 records."
    assert ottla("consume", topic, *ALL, "--format", "{offset}:{value}").lines == ["2:c"]


def test_what_does_not_exist_is_said(ottla: Ottla, ottla_topic: str) -> None:
    assert "there is no topic" in ottla("consume", ottla_topic + "x").err
    assert f"did you mean {ottla_topic}?" in ottla("offsets", ottla_topic + "x").err
    assert "has no partition 99: its only partition is 0" in ottla("consume", f"{ottla_topic}:99").err
    assert "needs a value at its end" in ottla("consume", ottla_topic, "--filter", "key ==").err


def test_a_topic_that_nobody_makes_by_itself_is_not_waited_for_in_vain() -> None:
    with EmbeddedBroker({"auto.create.topics.enable": False}) as broker:
        broker.create_topic("orders")
        done = Ottla(broker.bootstrap_servers)("produce", "ordrs", "-X", "max.block.ms=300", stdin=b"a\n")
    assert (done.code, done.err) == (
        1, "ottla: there is no topic ordrs; did you mean orders? `ottla topics create ordrs` makes it\n",
    )  # fmt: skip


def test_a_terminal_types_records_and_sees_them_live(ottla: Ottla, ottla_topic: str) -> None:
    with terminal(ottla.bootstrap, "consume", ottla_topic) as reader:
        reader.wait_for("--from beginning shows what is there")
        with terminal(ottla.bootstrap, "produce", ottla_topic) as writer:
            writer.wait_for("A record per line")
            writer.type("hello\n")
            writer.wait_for(f"{ottla_topic}-0@0")
            writer.type("\x04")
            assert writer.wait() == 0
        reader.wait_for("hello")
        reader.type("\x03")
        assert reader.wait() == 130
        assert "1 record." in reader.seen
        assert "Traceback" not in reader.seen


def test_the_files_of_a_log_are_read_without_a_broker(
    ottla: Ottla, ottla_broker: EmbeddedBroker, ottla_topic: str, tmp_path: Path
) -> None:
    ottla("produce", ottla_topic, "--compression", "zstd", "-k", ":", stdin=b"a:1\nb:2\n")
    segment = Path(ottla_broker.data_directory, f"{ottla_topic}-0", "00000000000000000000.log")
    batches = [json.loads(line) for line in ottla("log", "dump", str(segment), "--json").lines]
    assert (batches[-1]["last_offset"], batches[0]["compression"], batches[0]["damaged"]) == (1, "zstd", False)
    records = [json.loads(line) for line in ottla("log", "dump", str(segment), "--records", "--json").lines]
    assert [(found["offset"], found["key"], found["value"]) for found in records] == [(0, "a", "1"), (1, "b", "2")]
    damaged = tmp_path / segment.name
    data = bytearray(segment.read_bytes())
    data[-1] ^= 0xFF
    damaged.write_bytes(data)
    done = ottla("log", "dump", str(damaged))
    assert done.code == 1
    assert "DAMAGED: the CRC does not match" in done.lines[-1]
    assert "No such file" in ottla("log", "dump", "/none.log").err
    metadata = Path(ottla_broker.data_directory, "__cluster_metadata-0", segment.name)
    assert f'"name":"{ottla_topic}"' in ottla("log", "dump", str(metadata), "--records").out


def test_a_broker_that_is_still_starting_is_waited_for(tmp_path: Path) -> None:
    port = free_port()
    with terminal(f"127.0.0.1:{port}", "produce", "greetings") as writer:
        writer.wait_for(f"Nothing listens at 127.0.0.1:{port} yet. Waiting up to 30 s for a broker; Ctrl-C ends.")
        with running("ottla.cli.main", "broker", "--listen", str(port), "--http", "off", directory=tmp_path) as node:
            writer.wait_for("A record per line")
            writer.type("hello\n\x04")
            assert writer.wait() == 0
            assert "1 record" in writer.seen
            assert node.end() == 0


@pytest.mark.parametrize("measured", ["produce", "latency"])
def test_measurements_wait_for_a_broker_too(measured: str) -> None:
    with terminal("127.0.0.1:1", "perf", measured, "bench") as command:
        command.wait_for("Nothing listens at 127.0.0.1:1 yet. Waiting up to 30 s for a broker; Ctrl-C ends.")


def test_a_reader_says_that_its_broker_is_gone_and_that_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    broker = ("ottla.cli.main", "broker", "--listen", str(port), "--http", "off")
    ottla = Ottla(f"127.0.0.1:{port}")
    with running(*broker, directory=tmp_path) as node:
        node.wait_for("Ready")
        ottla("topics", "create", "orders")
        with terminal(ottla.bootstrap, "consume", "orders", "--from", "beginning") as reader:
            ottla("produce", "orders", stdin=b"before\n")
            reader.wait_for("before")
            node.end(signal.SIGKILL)
            reader.wait_for(f"127.0.0.1:{port} (broker 1) is out of reach, trying again until it is back: connection")
            with running(*broker, directory=tmp_path) as again:
                again.wait_for("Ready")
                reader.wait_for(f"127.0.0.1:{port} (broker 1) is back")
                ottla("produce", "orders", stdin=b"after\n")
                reader.wait_for("after")
                assert "rebootstrapping" not in reader.seen
                assert again.end() == 0


def test_a_record_that_is_too_large_is_answered_with_the_topic_and_the_setting(ottla: Ottla, ottla_topic: str) -> None:
    ottla("topics", "alter", ottla_topic, "--config", "max.message.bytes=1000")
    done = ottla("produce", ottla_topic, stdin=b"x" * 5000)
    assert done.code == 1
    assert f"bytes for {ottla_topic}-" in done.err
    assert f"raise max.message.bytes of topic {ottla_topic} (message.max.bytes of the brokers)" in done.err
