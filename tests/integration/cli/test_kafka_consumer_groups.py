"""`kafka-consumer-groups` beside Kafka's own ConsumerGroupCommand."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.client import confluent
from tests.clients.client.java import ToolHost
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.topic import create
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
_numbers = itertools.count(1)


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "consumer.group.ConsumerGroupCommand", "consumer_groups")


@pytest.fixture
def topic(tool_server: Server) -> str:
    """A topic of two partitions with five records in the first."""
    name = f"read-{next(_numbers)}"
    # Such old records are gone half a minute after the server's start, unless it shall keep them.
    create(tool_server, name, partitions=2, retention_ms="-1")
    confluent.write(tool_server.bootstrap, name, [Record(None, b"v", (), 1_000 + number) for number in range(5)])
    return name


@pytest.fixture
def consumer(tool_server: Server, topic: str) -> Iterator[Any]:
    settings = {"group.id": "living", "group.instance.id": "one", "client.id": "reader"}
    consumer = confluent.Consumer({"bootstrap.servers": tool_server.bootstrap, **settings})
    consumer.subscribe([topic])
    until(True, lambda: consumer.poll(0.1) is None and len(consumer.assignment()) == 2)
    yield consumer
    consumer.close()


def test_resets(both: SideBySide, topic: str, tmp_path: Path) -> None:
    reset = (*TO, "--reset-offsets", "--group", "group-{me}")
    both.same_lines(*reset, "--topic", topic, "--to-latest", "--execute")
    for scenario in (
        "--to-offset 3",
        "--to-offset 99",
        "--to-earliest",
        "--to-latest",
        "--to-current",
        "--shift-by -2",
        "--shift-by -99",
        "--to-datetime 1970-01-01T00:00:01.002",
        "--to-datetime 1970-01-01T01:00:01.002+01:00",
        "--to-datetime 2030-01-01T00:00:00.000Z",
        "--by-duration P1D",
        "--by-duration PT5H",
        "--to-datetime nonsense",
        "--to-datetime 2030-01-01Tx",
        "--by-duration nonsense",
    ):
        both.same_output(*reset, "--topic", f"{topic}:0", "--dry-run", *scenario.split())
    both.same_lines(*reset, "--all-topics", "--to-earliest", "--dry-run")
    assert (
        both.same(*reset, "--topic", f"{topic}:0", "--to-offset", "2", "--export", "--dry-run").out
        == f"{topic},0,2\n\n"
    )
    plan = tmp_path / "plan.csv"
    plan.write_text(f"{topic},0,4\n")
    both.same(*reset, "--from-file", str(plan), "--execute")
    both.same(*TO, "--describe", "--group", "group-{me}")


def test_refused_resets(both: SideBySide, topic: str) -> None:
    reset = (*TO, "--reset-offsets", "--group", "never-{me}", "--dry-run")
    for wrong in (
        f"--topic {topic}:9 --to-offset 5",
        "--topic no-such-topic --to-offset 5",
        f"--topic {topic}:x --to-offset 5",
        f"--topic {topic}:1:2 --to-offset 5",
        f"--topic {topic}:0 --shift-by 2",
        "--to-earliest",
        f"--topic {topic} --to-earliest --to-latest",
        f"--topic {topic} --to-earliest --execute",
        "--all-topics --to-earliest",
    ):
        both.same(*reset, *wrong.split())
    warned = both.same(*TO, "--reset-offsets", "--group", "never-{me}", "--topic", f"{topic}:0", "--to-latest")
    assert warned.err.startswith("WARN: No action will be performed as the --execute option is missing.")


def test_values_that_can_not_be_read(both: SideBySide, topic: str, tmp_path: Path) -> None:
    reset = ("--reset-offsets", "--topic", f"{topic}:0", "--dry-run", "--group", "unread-{me}")
    for wrong in ("--to-offset x", "--shift-by 99999999999999999999"):
        refused = both.same_output(*TO, *reset, *wrong.split())
        assert refused.code == 0
        assert refused.out.startswith("\nError: Executing consumer group command failed due to Cannot parse argument")
    both.same_output(*TO, "--list", "--timeout", "x")
    both.same_output(*TO, "--delete-offsets", "--topic", topic, "--group", "a", "--group", "b")
    plan = tmp_path / "nobodys.csv"
    plan.write_text(f"{topic},0,4\n")
    groups = ("--group", "unread-{me}", "--group", "another-{me}")
    both.same_lines(*TO, "--reset-offsets", *groups, "--from-file", str(plan), "--dry-run")
    for call in (("--list", "--command-config", "/nowhere"), (*reset[:1], *groups[:2], "--from-file", "/nowhere")):
        java, ours = both.java(*TO, *call), both.ours(*TO, *call)
        assert ours.code == java.code == 0
        assert "failed due to" in ours.out


def test_several_groups(both: SideBySide, topic: str) -> None:
    first = (*TO, "--reset-offsets", "--topic", f"{topic}:0", "--to-earliest", "--execute")
    for name in ("one", "two"):
        both.same(*first, "--group", name + "-{me}")
    groups = ("--group", "one-{me}", "--group", "two-{me}")
    for view in ("", "--members", "--state", "--state --verbose"):
        both.same_lines(*TO, "--describe", *groups, *view.split())
    both.same_lines(*TO, "--reset-offsets", *groups, "--topic", f"{topic}:0", "--to-latest", "--dry-run", "--export")
    both.same_lines(*TO, "--reset-offsets", *groups, "--all-topics", "--to-latest", "--dry-run")
    deleted = both.ours(*TO, "--delete", *groups)
    assert deleted.out == "Deletion of requested consumer groups ('one-{me}', 'two-{me}') was successful.\n"


def test_a_group_without_members(both: SideBySide, topic: str) -> None:
    for name in ("empty", "doomed"):
        both.same_lines(
            *TO, "--reset-offsets", "--group", name + "-{me}", "--topic", topic, "--to-earliest", "--execute"
        )
    for view in ("", "--verbose", "--offsets", "--members", "--members --verbose", "--state", "--state --verbose"):
        both.same(*TO, "--describe", "--group", "empty-{me}", *view.split())
    both.same(*TO, "--delete-offsets", "--group", "empty-{me}", "--topic", f"{topic}:0")
    both.same(*TO, "--delete-offsets", "--group", "empty-{me}", "--topic", "no-such-topic")
    both.same(*TO, "--delete-offsets", "--group", "no-such-group", "--topic", topic)
    both.same(*TO, "--delete", "--group", "empty-{me}", "--group", "no-such-group")
    both.same(*TO, "--delete", "--group", "doomed-{me}")


@pytest.mark.usefixtures("consumer")
def test_a_group_with_members(both: SideBySide, topic: str) -> None:
    living = (*TO, "--describe", "--group", "living")
    for view in ("", "--verbose", "--members", "--members --verbose", "--state", "--state --verbose"):
        assert both.same(*living, *view.split()).out
    both.same(*TO, "--reset-offsets", "--group", "living", "--topic", topic, "--to-earliest", "--execute")
    both.same(*TO, "--delete", "--group", "living")
    for filters in ("", "--state", "--type", "--state --type", "--state stable", "--type classic --state Empty"):
        both.same_lines(*TO, "--list", *filters.split())


@pytest.mark.parametrize(
    "wrong",
    [
        "--describe --group no-such-group",
        "--describe --group no-such-group --state",
        "--describe --group no-such-group --members",
        "--describe --group g --members --state",
        "--describe --group g --state Empty",
        "--describe --group g --all-groups",
        "--describe --group g --topic t",
        "--delete --group no-such-group",
        "--delete --group g --topic t",
        "--list --group g",
        "--list --describe --group g",
        "--version",
        "--help",
    ],
)
def test_refusals(both: SideBySide, wrong: str) -> None:
    both.same(*TO, *wrong.split())


def test_words_that_java_shuffles(both: SideBySide) -> None:
    for wrong in ("--describe", "--delete", "--delete-offsets --group g", "--list --state Foo", "--list --type foo"):
        java, ours = both.java(*TO, *wrong.split()), both.ours(*TO, *wrong.split())
        assert (ours.code, ours.out) == (java.code, java.out)
        assert sorted(ours.err.replace(",", " ").split()) == sorted(java.err.replace(",", " ").split())
    for wrong in ("--list --members", "--list --foo"):
        java, ours = both.java(*TO, *wrong.split()), both.ours(*TO, *wrong.split())
        assert ours.code == java.code == 1
        assert ours.err.strip() in java.err


def test_expressions_are_checked(both: SideBySide) -> None:
    both.same("--validate-regex", "a.*")
    assert "is invalid" in both.ours("--validate-regex", "a(").out
    both.same("--list")
