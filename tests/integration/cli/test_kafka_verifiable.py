"""The verifiable clients beside Kafka's own: the same events, in the same order."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from ottla.client import Admin, NewTopic
from tests.clients.client.java import Outcome
from tests.integration.cli.piped_tool import run_piped
from tests.integration.cli.running import running
from tests.kafka.peer import command, require_kafka
from tests.kafka.server import Server

CLASSES = {"verifiable_producer": "VerifiableProducer", "verifiable_consumer": "VerifiableConsumer"}
SECONDS = 60


def _java(tool: str, *arguments: str) -> Outcome:
    require_kafka()
    done = subprocess.run(
        command(f"org.apache.kafka.tools.{CLASSES[tool]}", arguments),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def _events(outcome: Outcome) -> list[dict[str, Any]]:
    """What was told, without what can't be the same twice."""
    events = [json.loads(line) for line in outcome.out.splitlines()]
    now_ms = time.time() * 1000
    for event in events:
        assert abs(event.pop("timestamp") - now_ms) < SECONDS * 1000
        event.pop("avg_throughput", None)
    return events


def _same(tool: str, server: Server, *arguments: str) -> list[dict[str, Any]]:
    """Both tell the same; each has topics and groups of its own in place of `{me}`."""
    told = []
    for run, me in ((_java, "java"), (run_piped, "ours")):
        given = [argument.replace("{me}", me) for argument in ("--bootstrap-server", server.bootstrap, *arguments)]
        outcome = run(tool, *given)
        assert outcome.code == 0, outcome
        text = json.dumps(_events(outcome)).replace(f"-{me}", "-{me}")
        told.append(json.loads(text))
    assert told[1] == told[0]
    events: list[dict[str, Any]] = told[1]
    return events


def _create(server: Server, name: str, partitions: int, **configs: str) -> None:
    with Admin(bootstrap_servers=server.bootstrap) as admin:
        named = {key.replace("_", "."): value for key, value in configs.items()}
        admin.create_topics([NewTopic(f"{name}-{me}", partitions, configs=named) for me in ("java", "ours")])


def test_sending_and_reading(tool_server: Server) -> None:
    _create(tool_server, "verified", 1)
    settings = ("--topic", "verified-{me}", "--max-messages", "6")
    sent = _same(
        "verifiable_producer", tool_server, *settings, "--value-prefix", "3", "--repeating-keys", "2", "--acks", "1"
    )
    assert [event["name"] for event in sent] == [
        "startup_complete",
        *["producer_send_success"] * 6,
        "shutdown_complete",
        "tool_data",
    ]
    assert sent[3] == {
        "name": "producer_send_success",
        "key": "0",
        "value": "3.2",
        "topic": "verified-{me}",
        "partition": 0,
        "offset": 2,
    }
    for protocol in ("classic", "consumer"):
        group = ("--group-id", f"verified-{protocol}-{{me}}", "--group-protocol", protocol, "--verbose")
        read = _same("verifiable_consumer", tool_server, *settings, *group)
        assert [event["name"] for event in read if event["name"] != "record_data"][:4] == [
            "startup_complete",
            "partitions_assigned",
            "records_consumed",
            "offsets_committed",
        ]


def test_refusals_are_told(tool_server: Server) -> None:
    _create(tool_server, "refused", 1, max_message_bytes="10")
    told = _same("verifiable_producer", tool_server, "--topic", "refused-{me}", "--max-messages", "1")
    assert told[1]["exception"] == "class org.apache.kafka.common.errors.RecordTooLargeException"


def test_a_signal_ends_them(tool_server: Server, tmp_path: Path) -> None:
    to = ("--bootstrap-server", tool_server.bootstrap, "--topic", "verified-signal")
    with running("ottla.cli.kafka.verifiable_producer", *to, "--throughput", "20", directory=tmp_path) as sending:
        sending.wait_for('"value":"3"')
        assert sending.end(signal.SIGTERM) == 128 + signal.SIGTERM
    events = [json.loads(line) for line in sending.lines]
    assert [event["name"] for event in events[-2:]] == ["shutdown_complete", "tool_data"]
    assert events[-1]["sent"] == events[-1]["acked"] == len(events) - 3
    reading_arguments = (*to, "--group-id", "verified-signal", "--enable-autocommit")
    with running("ottla.cli.kafka.verifiable_consumer", *reading_arguments, directory=tmp_path) as reading:
        reading.wait_for("records_consumed")
        assert reading.end(signal.SIGINT) == 128 + signal.SIGINT
    names = [json.loads(line)["name"] for line in reading.lines]
    assert names[-3:] == ["shutdown_requested", "partitions_revoked", "shutdown_complete"]


@pytest.mark.parametrize(
    ("tool", "wrong"),
    [
        ("verifiable_producer", "--topic t"),
        ("verifiable_producer", "--bootstrap-server a:1 --topic t --acks 3"),
        ("verifiable_producer", "--bootstrap-server a:1 --topic t --producer.config a --command-config b"),
        ("verifiable_producer", "--bootstrap-server a:1 --topic t --command-config /nowhere"),
        ("verifiable_consumer", "--topic t --group-id g"),
        ("verifiable_consumer", "--bootstrap-server a:1 --topic t"),
    ],
)
def test_wrong_calls(tool: str, wrong: str) -> None:
    outcome = run_piped(tool, *wrong.split())
    assert outcome.code == 1
    assert outcome.err.splitlines()[-1].startswith(f"{tool.replace('_', '-')}: error: ")


def test_help_without_arguments() -> None:
    for tool in CLASSES:
        outcome = run_piped(tool)
        assert outcome.code == 0
        assert outcome.out.startswith("usage: ")
