"""`kafka-configs` beside Kafka's own ConfigCommand."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.client.java import Outcome, ToolHost
from tests.clients.patience import until
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")


@pytest.fixture
def both(java_tools: ToolHost, tool_server: Server) -> SideBySide:
    topics = SideBySide(java_tools, tool_server, "TopicCommand", "topics")
    topics.same(*TO, "--create", "--topic", "configured-{me}", "--if-not-exists", normal=".*\n")
    for ask in (topics.java, topics.ours):
        until(True, lambda ask=ask: "configured-{me}" in ask(*TO, "--list").out)  # type: ignore[misc]
    return SideBySide(java_tools, tool_server, "kafka.admin.ConfigCommand", "configs")


def _settled(both: SideBySide, wanted: str, *arguments: str) -> None:
    """Waits until each side shows a change, then compares."""
    asks: tuple[Callable[..., Outcome], ...] = (both.java, both.ours)
    for ask in asks:
        until(True, lambda ask=ask: wanted in ask(*arguments).out)  # type: ignore[misc]
    both.same(*arguments)


def test_topics(both: SideBySide, tmp_path: Path) -> None:
    one = (*TO, "--entity-type", "topics", "--entity-name", "configured-{me}")
    both.same(*one, "--alter", "--add-config", "retention.ms=7000,cleanup.policy=[compact,delete]")
    _settled(both, "retention.ms=7000", *one, "--describe")
    both.same(*TO, "--topic", "configured-{me}", "--describe", "--all", normal=r"segment.bytes=\S+")
    both.same(*one, "--alter", "--delete-config", "retention.ms,cleanup.policy")
    file = tmp_path / "added.properties"
    file.write_text("retention.ms=8000\n")
    both.same(*TO, "--topic", "configured-{me}", "--alter", "--add-config-file", str(file))
    _settled(both, "retention.ms=8000", *one, "--describe")
    both.same(*one, "--alter", "--delete-config", "retention.ms")


def test_brokers(both: SideBySide) -> None:
    one = (*TO, "--entity-type", "brokers", "--entity-name", "1")
    both.same(*one, "--alter", "--add-config", "log.cleaner.threads=2")
    _settled(both, "log.cleaner.threads=2", *one, "--describe")
    assert both.ours(*one, "--alter", "--delete-config", "log.cleaner.threads").code == 0
    both.same(*TO, "--broker-defaults", "--alter", "--add-config", "log.retention.bytes=123456789")
    _settled(both, "123456789", *TO, "--entity-type", "brokers", "--entity-default", "--describe")
    both.same(*TO, "--entity-type", "brokers", "--describe")
    assert both.ours(*TO, "--broker-defaults", "--alter", "--delete-config", "log.retention.bytes").code == 0
    both.same("--bootstrap-controller", "{controller}", "--broker", "1", "--describe")


def test_quotas_and_users(both: SideBySide) -> None:
    one = (*TO, "--entity-type", "users", "--entity-name", "bob-{me}")
    both.same(*one, "--alter", "--add-config", "producer_byte_rate=1024,consumer_byte_rate=2.5")
    both.same(*one, "--alter", "--add-config", "SCRAM-SHA-512=[iterations=8192,password=p]")
    _settled(both, "iterations=8192", *one, "--describe")
    pair = (*TO, "--user", "bob-{me}", "--client-defaults")
    both.same(*pair, "--alter", "--add-config", "request_percentage=50")
    _settled(both, "request_percentage", *pair, "--describe")
    both.same(*TO, "--ip", "127.0.0.1", "--alter", "--add-config", "connection_creation_rate=100")
    _settled(both, "127.0.0.1", *TO, "--entity-type", "ips", "--describe")
    both.same(*pair, "--alter", "--delete-config", "request_percentage")
    both.same(*one, "--alter", "--delete-config", "producer_byte_rate,consumer_byte_rate")
    both.same(*one, "--alter", "--delete-config", "SCRAM-SHA-512")
    assert both.ours(*TO, "--ip", "127.0.0.1", "--alter", "--delete-config", "connection_creation_rate").code == 0


def test_defaults_of_quotas(both: SideBySide) -> None:
    for whose, quota in (("client-defaults", "consumer_byte_rate"), ("ip-defaults", "connection_creation_rate")):
        both.same(*TO, f"--{whose}", "--alter", "--add-config", f"{quota}=5000")
        _settled(both, "5000.0", *TO, f"--{whose}", "--describe")
        assert both.ours(*TO, f"--{whose}", "--alter", "--delete-config", quota).code == 0


def test_both_mechanisms_at_once_are_accepted(both: SideBySide) -> None:
    added = "SCRAM-SHA-256=[password=p],SCRAM-SHA-512=[password=p]"
    one = (*TO, "--user", "eve")
    assert both.ours(*one, "--alter", "--add-config", added).out == "Completed updating config for user eve.\n"
    _settled(both, "SCRAM-SHA-512", *one, "--describe")
    assert both.ours(*one, "--alter", "--delete-config", "SCRAM-SHA-256,SCRAM-SHA-512").code == 0


def test_groups_and_client_metrics(both: SideBySide) -> None:
    group = (*TO, "--group", "group-{me}")
    both.same(*group, "--alter", "--add-config", "consumer.session.timeout.ms=50000")
    _settled(both, "50000", *group, "--describe")
    watch = (*TO, "--client-metrics", "watch-{me}")
    both.same(*watch, "--alter", "--add-config", "interval.ms=60000")
    _settled(both, "60000", *watch, "--describe")
    both.same(*group, "--alter", "--delete-config", "consumer.session.timeout.ms")
    both.same(*watch, "--alter", "--delete-config", "interval.ms")


def test_everything_of_a_type(both: SideBySide) -> None:
    for kind in ("topics", "users", "clients", "ips", "groups", "client-metrics"):
        both.same_lines(*TO, "--describe", "--entity-type", kind)
    both.same_lines(*TO, "--describe", "--broker-logger", "1")
    both.same_lines(*TO, "--describe", "--broker", "1", "--all")


@pytest.mark.parametrize(
    "wrong",
    [
        "--describe",
        "--alter --describe --topic t",
        "--topic t",
        "--describe --topic nope",
        "--describe --topic nope --all",
        "--describe --broker 7",
        "--describe --broker x",
        "--describe --broker-logger 7",
        "--alter --broker-logger 1 --add-config no.such.logger=INFO",
        "--describe --group nope",
        "--describe --client-metrics nope",
        "--describe --entity-type nonsense",
        "--describe --entity-type topics --entity-type topics",
        "--describe --entity-type topics --entity-type users",
        "--describe --entity-type topics --topic t",
        "--describe --entity-type topics --entity-default",
        "--describe --entity-type broker-loggers",
        "--describe --topic t --add-config a=b",
        "--describe --user nobody",
        "--alter --topic t",
        "--alter --entity-type topics --add-config a=b",
        "--alter --entity-type users --add-config a=b",
        "--alter --topic configured-{me} --add-config nonsense=5",
        "--alter --topic configured-{me} --add-config retention.ms=x",
        "--alter --topic configured-{me} --add-config nonsense",
        "--alter --topic configured-{me} --add-config non/sense=1",
        "--alter --topic configured-{me} --delete-config nonsense",
        "--alter --topic t --add-config a=b --add-config-file f",
        "--alter --broker-defaults --add-config node.id=5",
        "--alter --user u --add-config nonsense=5",
        "--alter --user u --delete-config nonsense",
        "--alter --client c --add-config SCRAM-SHA-256=5",
        "--alter --user u --add-config producer_byte_rate=x",
        "--alter --user u --add-config SCRAM-SHA-256=[pass=x]",
        "--alter --user u --add-config SCRAM-SHA-256=[iterations=1,password=x]",
        "--alter --user u --add-config SCRAM-SHA-256=[password=]",
        "--alter --user u --delete-config SCRAM-SHA-256",
        "--alter --ip no.such.host.invalid --add-config connection_creation_rate=5",
        "--alter --topic configured-{me} --add-config retention.ms=",
        "--alter --topic configured-{me} --add-config-file /nowhere",
        "--alter --client-metrics c --add-config interval.ms=5",
        "--alter --group g --add-config consumer.session.timeout.ms=1",
        "--alter --broker-logger 1 --add-config root=NONSENSE",
        "--describe --topic bad/name",
        "--describe --topic t --command-config /nowhere",
        "--alter --user-defaults --add-config SCRAM-SHA-256=[password=x]",
        "--alter --user u --add-config producer_byte_rate=1,SCRAM-SHA-256=[password=x]",
        "--alter --ip 127.0.0.1 --add-config producer_byte_rate=5",
        "--bootstrap-controller {controller} --describe --topic t",
        "--foo",
        "--version",
    ],
)
def test_refusals(both: SideBySide, wrong: str) -> None:
    both.same(*TO, *wrong.split())


def test_a_server_must_be_given(both: SideBySide) -> None:
    both.same("--describe", "--topic", "t")
