"""Tools about partitions beside Kafka's own: groups, offsets, log directories, deleted records, elections."""

import itertools
import json
from pathlib import Path

import pytest

from tests.clients.client import confluent
from tests.clients.client.java import ToolHost
from tests.clients.record import Record
from tests.clients.topic import create
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
_numbers = itertools.count(1)


class Bench:
    """Both sides of every tool, and files for them."""

    def __init__(self, tools: ToolHost, server: Server, directory: Path) -> None:
        self._tools = tools
        self._server = server
        self._directory = directory

    def tool(self, java: str, ours: str) -> SideBySide:
        return SideBySide(self._tools, self._server, java, ours)

    def file(self, content: object) -> str:
        path = self._directory / f"file-{next(_numbers)}.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)


@pytest.fixture
def bench(java_tools: ToolHost, tool_server: Server, tmp_path: Path) -> Bench:
    return Bench(java_tools, tool_server, tmp_path)


@pytest.fixture
def topic(tool_server: Server) -> str:
    name = f"parts-{next(_numbers)}"
    # Such old records are gone half a minute after the server's start, unless it shall keep them.
    create(tool_server, name, partitions=3, retention_ms="-1")
    confluent.write(tool_server.bootstrap, name, [Record(None, b"v", (), stamp) for stamp in (5, 9, 7)])
    return name


def test_groups(bench: Bench, topic: str) -> None:
    both = bench.tool("GroupsCommand", "groups")
    reset = ("--reset-offsets", "--group", "listed", "--topic", topic, "--to-earliest", "--execute")
    bench.tool("consumer.group.ConsumerGroupCommand", "consumer_groups").ours(*TO, *reset)
    for filters in ("", "--consumer", "--share", "--streams", "--group-type classic", "--protocol consumer"):
        both.same_lines(*TO, "--list", *filters.split())
    for wrong in ("--list --group-type foo", "", "--list --consumer --share", "--list --foo", "--help", "--version"):
        both.same(*TO, *wrong.split())
    both.same("--list")
    assert both.same().err.startswith("Missing required option(s) [bootstrap-server]\n")


def test_offsets(bench: Bench, topic: str) -> None:
    both = bench.tool("GetOffsetShell", "get_offsets")
    assert both.same(*TO, "--topic", topic).out == f"{topic}:0:3\n{topic}:1:0\n{topic}:2:0\n"
    for time in ("earliest", "latest", "max-timestamp", "-1", "-2", "-3", "earliest-local", "6", "foo", "99"):
        both.same(*TO, "--topic", topic, "--time", time)
    for which in (f"{topic}:0-1", f"{topic}:1-", f"{topic}:-2", f"{topic}:2", topic, f"{topic},:0", f"{topic}:x"):
        both.same(*TO, "--topic-partitions", which, "--exclude-internal-topics")
    both.same(*TO, "--topic", topic, "--partitions", "0,2")
    for wrong in ("latest-tiered", "-5", "-7", "99999999999999"):
        both.same(*TO, "--topic", topic, "--time", wrong)
    for wrong in ("--topic [bad", f"--topic {topic} --partitions 9", f"--topic-partitions {topic}:1-0"):
        both.same(*TO, *wrong.split())
    both.same(*TO)
    for wrong in ("--topic nope", "--topic t --partitions x", "--topic t --topic-partitions x", "--foo", "--version"):
        both.same(*TO, *wrong.split())
    both.same("--bootstrap-server", "nonsense")
    both.same("--topic", topic)


def test_log_directories(bench: Bench, topic: str) -> None:
    both = bench.tool("LogDirsCommand", "log_dirs")
    one = both.ours(*TO, "--describe", "--topic-list", topic, "--broker-list", "1")
    other = both.java(*TO, "--describe", "--topic-list", topic, "--broker-list", "1")
    assert one.out.splitlines()[:2] == other.out.splitlines()[:2]
    [shown, expected] = [json.loads(outcome.out.splitlines()[2]) for outcome in (one, other)]
    for value in (shown, expected):
        value["brokers"][0]["logDirs"][0]["partitions"].sort(key=lambda partition: partition["partition"])
    assert json.dumps(shown) == json.dumps(expected)
    both.same(*TO, "--describe", "--topic-list", "no-such-topic")
    for wrong in ("--describe --broker-list 7,8", "--describe --broker-list x", "", "--foo", "--help"):
        both.same(*TO, *wrong.split())


def test_deleted_records(bench: Bench, topic: str) -> None:
    both = bench.tool("DeleteRecordsCommand", "delete_records")
    wishes = [{"topic": topic, "partition": 0, "offset": 2}, {"topic": topic, "partition": 1, "offset": 100}]
    both.same_lines(*TO, "--offset-json-file", bench.file({"partitions": wishes, "version": 1}))
    for wrong in (
        {"partitions": [wishes[0], wishes[0]]},
        {"partitions": [{"topic": topic, "partition": 0}]},
        {"version": 2, "partitions": []},
        {},
        "nonsense",
    ):
        both.same(*TO, "--offset-json-file", bench.file(wrong))
    both.same(*TO, "--offset-json-file", "/nowhere")
    both.same(*TO)


def test_elections(bench: Bench, topic: str) -> None:
    both = bench.tool("LeaderElectionCommand", "leader_election")
    one = (*TO, "--topic", topic, "--partition", "0")
    assert both.same(*one, "--election-type", "preferred").out == (
        f"Valid replica already elected for partitions {topic}-0\n"
    )
    both.same(*one, "--election-type", "UNCLEAN")
    both.same(*TO, "--election-type", "preferred", "--all-topic-partitions")
    both.same(*TO, "--election-type", "preferred", "--topic", topic, "--partition", "9")
    listed = {"partitions": [{"topic": topic, "partition": 1}]}
    both.same(*TO, "--election-type", "preferred", "--path-to-json-file", bench.file(listed))
    both.same(*one, "--election-type", "preferred", "--admin.config", bench.file(""))
    for wrong in ({"partitions": listed["partitions"] * 2}, {}, "nonsense"):
        both.same(*TO, "--election-type", "preferred", "--path-to-json-file", bench.file(wrong))
    for words in (
        "--election-type foo --topic t --partition 0",
        "--election-type preferred --topic t",
        "--election-type preferred --partition 0 --all-topic-partitions",
        "--election-type preferred --topic t --partition x",
        "--election-type preferred --topic no-such-topic --partition 0",
        "--election-type preferred --topic t --partition 0 --path-to-json-file f",
        "--election-type preferred",
        "--topic t",
        "--help",
    ):
        both.same(*TO, *words.split())
