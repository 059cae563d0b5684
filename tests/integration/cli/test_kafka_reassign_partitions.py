"""`kafka-reassign-partitions` beside Kafka's own ReassignPartitionsCommand."""

import itertools
import json
from pathlib import Path

import pytest

from tests.clients.client.java import Outcome, ToolHost
from tests.clients.topic import create
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
_numbers = itertools.count(1)


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "reassign.ReassignPartitionsCommand", "reassign_partitions")


@pytest.fixture
def topic(tool_server: Server) -> str:
    name = f"moved-{next(_numbers)}"
    create(tool_server, name, partitions=2)
    return name


def _file(directory: Path, content: object) -> str:
    path = directory / f"plan-{next(_numbers)}.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def _plan(directory: Path, topic: str, *, replicas: object = (1,), path: str = "any", count: int = 1) -> str:
    parts = [{"topic": topic, "partition": number, "replicas": replicas, "log_dirs": [path]} for number in range(count)]
    return _file(directory, {"version": 1, "partitions": parts})


def test_a_reassignment(both: SideBySide, topic: str, tmp_path: Path) -> None:
    for count in (1, 2):
        plan = ("--reassignment-json-file", _plan(tmp_path, topic, count=count))
        both.same(*TO, "--execute", *plan)
        both.same(*TO, "--verify", *plan)
        both.same(*TO, "--verify", "--preserve-throttles", *plan)
        both.same(*TO, "--cancel", *plan)
    both.same(*TO, "--execute", "--throttle", "5000000", *plan)
    both.same(*TO, "--verify", *plan)
    assert both.same(*TO, "--list").out == "No partition reassignments found.\n"
    both.same("--bootstrap-controller", "{controller}", "--list")


def test_moves_between_directories(both: SideBySide, tool_server: Server, topic: str, tmp_path: Path) -> None:
    plan = ("--reassignment-json-file", _plan(tmp_path, topic, path=str(tool_server.log_directory)))
    both.same(*TO, "--execute", "--replica-alter-log-dirs-throttle", "5000000", *plan)
    both.same(*TO, "--verify", *plan)
    elsewhere = ("--reassignment-json-file", _plan(tmp_path, topic, path="/nowhere"))
    both.same(*TO, "--verify", *elsewhere)


def test_a_proposal(both: SideBySide, topic: str, tmp_path: Path) -> None:
    topics = _file(tmp_path, {"topics": [{"topic": topic}], "version": 1})
    both.same(*TO, "--generate", "--topics-to-move-json-file", topics, "--broker-list", "1")


def _first_line(outcome: Outcome) -> tuple[int, str, str]:
    return outcome.code, outcome.out.partition("\n")[0], outcome.err.partition("\n")[0]


def test_refusals(both: SideBySide, topic: str, tmp_path: Path) -> None:
    twice = {"topic": topic, "partition": 0, "replicas": [1]}
    for plan in (
        _plan(tmp_path, topic, replicas=[7]),
        _plan(tmp_path, "no-such-topic"),
        _plan(tmp_path, topic, count=3),
        _plan(tmp_path, topic, count=0),
        _plan(tmp_path, topic, replicas=[1, 2]),
        _file(tmp_path, {"partitions": [twice, twice]}),
        _file(tmp_path, {"partitions": [{**twice, "replicas": []}]}),
        _file(tmp_path, {"partitions": [{**twice, "replicas": [1, 1]}]}),
        _file(tmp_path, {"partitions": [{"topic": topic}]}),
        _file(tmp_path, {"version": 2}),
        "/nowhere",
    ):
        call = (*TO, "--execute", "--reassignment-json-file", plan)
        assert _first_line(both.ours(*call)) == _first_line(both.java(*call))
    for plan in (_plan(tmp_path, topic, replicas=[7]), _plan(tmp_path, "no-such-topic")):
        both.same(*TO, "--verify", "--preserve-throttles", "--reassignment-json-file", plan)
    wrong = (([topic, topic], "1"), (["no-such-topic"], "1"), ([topic], "1,1"), ([topic], "x"), ([topic], "7"))
    for topics, brokers in wrong:
        listed = _file(tmp_path, {"topics": [{"topic": name} for name in topics]})
        call = (*TO, "--generate", "--topics-to-move-json-file", listed, "--broker-list", brokers)
        assert _first_line(both.ours(*call)) == _first_line(both.java(*call))


@pytest.mark.parametrize(
    "wrong",
    ["", "--list --execute", "--list --throttle 5", "--execute", "--generate --broker-list 1", "--verify", "--help"],
)
def test_wrong_calls(both: SideBySide, wrong: str) -> None:
    both.same(*TO, *wrong.split())


def test_whom_to_connect_to(both: SideBySide) -> None:
    both.same("--list")
    both.same(*TO, "--list", "--bootstrap-controller", "{controller}")
