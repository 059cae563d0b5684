"""What Kafka's tools and ours say of servers, files and texts that can't be used: the same words, at once."""

from pathlib import Path

import pytest

from tests.clients.client.java import ToolHost
from tests.integration.cli.side_by_side import SideBySide, run_tool
from tests.kafka.server import Server

_ASK = {
    "acls": ("AclCommand", "--list"),
    "client_metrics": ("ClientMetricsCommand", "--list"),
    "configs": ("kafka.admin.ConfigCommand", "--describe --topic t"),
    "consumer_groups": ("consumer.group.ConsumerGroupCommand", "--list"),
    "features": ("FeatureCommand", "describe"),
    "get_offsets": ("GetOffsetShell", ""),
    "groups": ("GroupsCommand", "--list"),
    "leader_election": ("LeaderElectionCommand", "--election-type preferred --topic t --partition 0"),
    "log_dirs": ("LogDirsCommand", "--describe"),
    "metadata_quorum": ("MetadataQuorumCommand", "describe --status"),
    "reassign_partitions": ("reassign.ReassignPartitionsCommand", "--list"),
    "topics": ("TopicCommand", "--list"),
    "transactions": ("TransactionsCommand", "list"),
}
_CREATED = "Failed to create new KafkaAdminClient"


def _both(tools: ToolHost, server: Server, tool: str) -> SideBySide:
    return SideBySide(tools, server, _ASK[tool][0], tool)


def _said(both: SideBySide, arguments: list[str]) -> str:
    """What ours says, which ends as Kafka's does, with the same line on the same output; traces come after it."""
    java, ours = both.java(*arguments), both.ours(*arguments)
    assert ours.code == java.code, (arguments, ours, java)
    for mine, theirs in ((ours.out, java.out), (ours.err, java.err)):
        assert mine.strip().partition("\n")[0] == theirs.strip().partition("\n")[0], (arguments, ours, java)
    return f"{ours.out} {ours.err}"


@pytest.mark.parametrize("servers", ["nonsense", "127.0.0.1:99999", "no-such-host.invalid:9092"])
@pytest.mark.parametrize("tool", [tool for tool in _ASK if tool not in ("get_offsets", "transactions")])
def test_addresses_that_are_none(java_tools: ToolHost, tool_server: Server, tool: str, servers: str) -> None:
    said = _said(_both(java_tools, tool_server, tool), ["--bootstrap-server", servers, *_ASK[tool][1].split()])
    assert tool == "configs" or _CREATED in said


def test_the_reason_is_told_too() -> None:
    ours = run_tool("topics", "--bootstrap-server", "nonsense", "--list")
    assert ours.err.splitlines()[1].endswith("Expected host:port, for example nonsense:9092)")
    unknown = run_tool("topics", "--bootstrap-server", "no-such-host.invalid:9092", "--list")
    assert "No resolvable bootstrap urls given in bootstrap.servers (no-such-host.invalid: " in unknown.err


@pytest.mark.parametrize("servers", ["127.0.0.1:99999", "no-such-host.invalid:9092"])
@pytest.mark.parametrize(
    ("java", "ours"), [("ConsoleProducer", "console_producer"), ("consumer.ConsoleConsumer", "console_consumer")]
)
def test_clients_of_nobody(java_tools: ToolHost, tool_server: Server, java: str, ours: str, servers: str) -> None:
    both = SideBySide(java_tools, tool_server, java, ours)
    assert "Failed to construct kafka " in _said(both, ["--topic", "t", "--bootstrap-server", servers])
    file = ["--bootstrap-server", "{broker}", "--topic", "t", "--command-config", "/no/such.properties"]
    assert "java.nio.file.NoSuchFileException: /no/such.properties" in _said(both, file)


@pytest.mark.parametrize("tool", _ASK)
def test_files_of_settings_that_are_missing(
    java_tools: ToolHost, tool_server: Server, tool: str, tmp_path: Path
) -> None:
    both = _both(java_tools, tool_server, tool)
    places = ["--bootstrap-server", "{broker}", "--command-config", str(tmp_path / "absent")]
    assert "absent" in _said(both, [*places, *_ASK[tool][1].split()])
    if tool == "topics":
        _said(both, [*places[:3], str(tmp_path), "--list"])


@pytest.mark.parametrize(
    "regex", ["a.*", "a[", "a(", "*", "a{1001}", "a(?=b)", r"\p{Foo}", "\\", "a**", "[z-a]", "(?P<n>a)(?P<n>b)", r"\8"]
)
def test_expressions_of_subscriptions(java_tools: ToolHost, tool_server: Server, regex: str) -> None:
    _both(java_tools, tool_server, "consumer_groups").same("--validate-regex", regex)


@pytest.mark.parametrize("text", ["bogus", "!" * 22, "x", "AAAA"])
def test_ids_that_are_none(java_tools: ToolHost, tool_server: Server, text: str) -> None:
    _both(java_tools, tool_server, "topics").same("--bootstrap-server", "{broker}", "--describe", "--topic-id", text)


@pytest.mark.parametrize("wish", ["--to-datetime yesterday", "--by-duration long", "--to-offset x", "--from-file /no"])
def test_resets_to_nowhere(java_tools: ToolHost, tool_server: Server, wish: str) -> None:
    call = ["--bootstrap-server", "{broker}", "--reset-offsets", "--group", "nobody", "--dry-run", *wish.split()]
    scope = [] if "file" in wish else ["--topic", "none"]
    _said(_both(java_tools, tool_server, "consumer_groups"), [*call, *scope])


@pytest.mark.parametrize("text", ["[]", "", '{"version":2,"partitions":[]}'])
def test_plans_that_are_none(java_tools: ToolHost, tool_server: Server, text: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text)
    call = ["--bootstrap-server", "{broker}", "--execute", "--reassignment-json-file", str(path)]
    _said(_both(java_tools, tool_server, "reassign_partitions"), call)
    path.write_text('{"version":1,"partitions":[]}')
    _said(_both(java_tools, tool_server, "reassign_partitions"), [*call, "--throttle", "x"])


def test_the_version_of_transactions(java_tools: ToolHost, tool_server: Server) -> None:
    both = _both(java_tools, tool_server, "transactions")
    both.same("--version")
    _said(both, ["--bootstrap-server", "{broker}", "describe", "--transactional-id", "none"])


_ZOOKEEPER = (
    "Kafka 4 has no ZooKeeper: type --bootstrap-server HOST:PORT, the address of a broker, mostly on port 9092."
)
_BROKERS = "Type --bootstrap-server HOST:PORT instead."


@pytest.mark.parametrize(
    ("java", "tool", "arguments", "hint"),
    [
        ("TopicCommand", "topics", "--create --zookeeper localhost:2181 --partitions 1 --topic t", _ZOOKEEPER),
        ("ConsoleProducer", "console_producer", "--broker-list localhost:9092 --topic t", _BROKERS),
        ("consumer.ConsoleConsumer", "console_consumer", "--zookeeper localhost:2181 --topic t", _ZOOKEEPER),
        ("consumer.ConsoleConsumer", "console_consumer", "--whitelist a.*", "Type --include REGEX instead."),
        ("consumer.ConsoleConsumer", "console_consumer", "--blacklist a.*",
         "Type --include with an expression that leaves them out instead, such as '^(?!payments$).*'."),
        ("consumer.ConsoleConsumer", "console_consumer",
         "--bootstrap-server localhost:1 --topic t --formatter kafka.tools.DefaultMessageFormatter",
         "It has moved: type org.apache.kafka.tools.consumer.DefaultMessageFormatter instead."),
        ("AclCommand", "acls", "--authorizer-properties zookeeper.connect=localhost:2181 --list",
         "The brokers keep the ACLs now: type --bootstrap-server HOST:PORT instead."),
        ("kafka.admin.ConfigCommand", "configs", "--zookeeper localhost:2181 --describe --entity-type users",
         _ZOOKEEPER),
        ("reassign.ReassignPartitionsCommand", "reassign_partitions", "--zookeeper localhost:2181 --list", _ZOOKEEPER),
        ("consumer.group.ConsumerGroupCommand", "consumer_groups", "--zookeeper localhost:2181 --list", _ZOOKEEPER),
        ("GetOffsetShell", "get_offsets", "--broker-list localhost:1 --topic t", _BROKERS),
        ("ConsumerPerformance", "consumer_perf_test", "--zookeeper localhost:1 --topic t", _ZOOKEEPER),
        ("ReplicaVerificationTool", "replica_verification", "--broker-list localhost:1 --topic-white-list t",
         "Type --topics-include REGEX instead."),
    ],
)  # fmt: skip
def test_what_older_releases_had_is_refused_as_in_kafka_and_named_anew(
    java_tools: ToolHost, tool_server: Server, java: str, tool: str, arguments: str, hint: str
) -> None:
    said = java_tools.run(java, *arguments.split())
    ours = run_tool(tool, *arguments.split())
    assert (ours.code, ours.out) == (said.code, said.out)
    first = ours.err.splitlines()[0]
    assert first in said.err
    assert ours.err.splitlines()[-1] == hint


def test_tools_with_another_grammar_name_it_too() -> None:
    for tool in ("verifiable_producer", "producer_perf_test"):
        ours = run_tool(tool, "--broker-list", "localhost:9092", "--topic", "t")
        assert ours.code == 1
        assert ours.err.splitlines()[-2:] == [ours.err.splitlines()[-2], _BROKERS]
        assert "unrecognized arguments: '--broker-list'" in ours.err.splitlines()[-2]
