"""`kafka-topics` beside Kafka's own TopicCommand."""

import re

import pytest

from tests.clients.client.java import ToolHost
from tests.clients.patience import until
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    return SideBySide(java_tools, tool_server, "TopicCommand", "topics")


def _wait_for(both: SideBySide, topic: str) -> None:
    for ask in (both.java, both.ours):
        until(True, lambda ask=ask: topic in ask(*TO, "--list").out.splitlines())  # type: ignore[misc]


def test_a_topics_life(both: SideBySide) -> None:
    created = both.same(*TO, "--create", "--topic", "life-{me}", "--partitions", "2", "--config", "retention.ms=5000")
    assert created.out == "Created topic life-{me}.\n"
    _wait_for(both, "life-{me}")
    exists = both.same(*TO, "--create", "--topic", "life-{me}")
    assert exists.out == "Error while executing topic command : Topic 'life-{me}' already exists.\n"
    assert both.same(*TO, "--create", "--topic", "life-{me}", "--if-not-exists").out == ""
    described = both.same(*TO, "--describe", "--topic", "life-{me}", normal=r"(?<=TopicId: )\S+")
    assert "\tTopic: life-{me}\tPartition: 1\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: \tLastKnownElr: \n" in described.out
    for report in ("topics-with-overrides", "at-min-isr-partitions", "under-replicated-partitions"):
        both.same(*TO, "--describe", "--topic", "life-{me}", f"--{report}", normal=r"(?<=TopicId: )\S+")
    refused = both.same(*TO, "--alter", "--topic", "life-{me}", "--partitions", "1")
    assert "currently has 2 partition(s); 1 would not be an increase." in refused.out
    assert both.same(*TO, "--alter", "--topic", "life-{me}", "--partitions", "3") == (0, "", "")
    assert both.same(*TO, "--delete", "--topic", "life-{me}") == (0, "", "")


def test_lists(both: SideBySide) -> None:
    both.java(*TO, "--create", "--topic", "list-other")
    _wait_for(both, "list-other")
    assert both.same(*TO, "--list", "--topic", "list-.*r").out == "list-other\n"
    assert both.same(*TO, "-list", "--topic", "nothing-like-it").out == "\n"
    both.same(*TO, "--list", "--exclude-internal", "ignored")
    both.same("--bootstrap-server=" + TO[1], "--list", "--topic=list-other,nope")


def test_no_arguments_at_all(both: SideBySide) -> None:
    assert both.same().err.startswith("Create, delete, describe, or change a topic.\n")


def test_assignments(both: SideBySide) -> None:
    both.same(*TO, "--create", "--topic", "placed-{me}", "--replica-assignment", "1,1")
    _wait_for(both, "placed-{me}")
    both.same(*TO, "--alter", "--topic", "placed-{me}", "--partitions", "3", "--replica-assignment", "1,1,1")
    for wrong in ("1:1", "1,1:2", "7"):
        assert both.same(*TO, "--create", "--topic", "misplaced-{me}", "--replica-assignment", wrong).code == 1


@pytest.mark.parametrize(
    "wrong",
    [
        "--create --topic bad --partitions x",
        "--create --topic bad --partitions 0",
        "--create --topic bad --partitions 99999999999",
        "--create --topic=",
        "--create --topic bad/name",
        "--create --topic bad --config retention.ms=1=2",
        "--create --topic bad --replication-factor 0",
        "--create --topic bad --replication-factor 3",
        "--create --topic bad --config nonsense",
        "--create --topic bad --config nonsense=1",
        "--create --topic bad --config retention.ms=x",
        "--create --topic bad.name --partitions 0",
        "--create",
        "--create --topic bad --replica-assignment 1 --partitions 2",
        "--describe --topic nope",
        "--describe --topic nope --if-exists",
        "--describe --topic-id AAAAAAAAAAAAAAAAAAAAAQ",
        "--describe --if-exists",
        "--alter --topic nope --partitions 3",
        "--alter --topic nope --partitions 3 --if-exists",
        "--alter --topic nope",
        "--delete --topic nope",
        "--delete --topic nope --if-exists",
        "--list --topic a --topic b",
        "--list --partitions 3",
        "--list --under-min-isr-partitions",
        "--list --create",
        "--list --foo",
        "--list --desc",
        "--topic",
        "--version",
        "--help",
    ],
)
def test_refusals(both: SideBySide, wrong: str) -> None:
    both.same(*TO, *wrong.split())


def test_overrides_stand_in_kafkas_order(both: SideBySide) -> None:
    configs = ("retention.ms=5000", "cleanup.policy=compact", "segment.bytes=2000000", "compression.type=zstd")
    given = [part for config in configs for part in ("--config", config)]
    both.same(*TO, "--create", "--topic", "overridden-{me}", "--partitions", "3", *given)
    _wait_for(both, "overridden-{me}")
    one = (*TO, "--describe", "--topic", "overridden-{me}")
    for limit in ("1", "0"):
        both.same(*one, "--partition-size-limit-per-response", limit, normal=r"(?<=TopicId: )\S+")
    both.same(*one, "--topics-with-overrides", normal=r"(?<=TopicId: )\S+")


@pytest.mark.parametrize(
    "wrong",
    [
        "--bootstrap-server {broker} --list --command-config /nowhere",
        "--bootstrap-server nonsense --list",
        "--bootstrap-server no.such.host.invalid --list",
        "--bootstrap-server {broker} --bootstrap-server {broker} --list",
    ],
)
def test_nobody_to_ask(both: SideBySide, wrong: str) -> None:
    java, ours = both.java(*wrong.split()), both.ours(*wrong.split())
    assert (ours.code, ours.out) == (java.code, java.out) == (1, "")
    assert ours.err


def test_configs_are_not_altered_here(both: SideBySide) -> None:
    wrong = (*TO, "--alter", "--topic", "t", "--partitions", "3", "--config", "a=b")
    java, ours = both.java(*wrong), both.ours(*wrong)
    # Java's sets have no order.
    words = [sorted(re.findall(r"[\w-]+", outcome.err)) for outcome in (java, ours)]
    assert (ours.code, words[1]) == (java.code, words[0])


def test_calls_without_a_server(both: SideBySide) -> None:
    assert both.same("--list").err == "--bootstrap-server must be specified\n"
    assert both.ours().code == both.java().code == 1
