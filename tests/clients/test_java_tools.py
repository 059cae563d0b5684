"""Apache Kafka's administrative tools: they must print on ours what they print on Kafka."""

import json
import re
from pathlib import Path

import pytest

from tests.clients.client import confluent, java
from tests.clients.client.java import Outcome, ToolHost
from tests.clients.patience import until
from tests.clients.record import Record
from tests.clients.server import CLUSTER_ID
from tests.clients.topic import create
from tests.kafka.server import Server

pytestmark = [pytest.mark.client(java.NAME), pytest.mark.long]


class Shell:
    """The tools, pointed at the server."""

    def __init__(self, tools: ToolHost, server: Server) -> None:
        self._tools = tools
        self._server = server

    def run(self, tool: str, *arguments: str) -> Outcome:
        """What a tool does, whatever comes of it."""
        return self._tools.run(tool, "--bootstrap-server", self._server.bootstrap, *arguments)

    def out(self, tool: str, *arguments: str) -> str:
        """What a tool prints that succeeds."""
        outcome = self.run(tool, *arguments)
        assert outcome.code == 0, outcome
        return outcome.out

    def configs(self, kind: str, name: str, *arguments: str) -> str:
        """What ConfigCommand prints about an entity."""
        return self.out("kafka.admin.ConfigCommand", "--entity-type", kind, "--entity-name", name, *arguments)


@pytest.fixture
def shell(tools: ToolHost, server: Server) -> Shell:
    return Shell(tools, server)


def test_topics(shell: Shell, topic: str) -> None:
    """TopicCommand: create, list, describe, alter, delete, and their errors"""
    assert shell.out(
        "TopicCommand", "--create", "--topic", topic, "--partitions", "2", "--config", "retention.ms=5000"
    ) == (f"Created topic {topic}.\n")
    until(True, lambda: topic in shell.out("TopicCommand", "--list").splitlines())
    described = shell.out("TopicCommand", "--describe", "--topic", topic)
    assert re.sub(r"TopicId: \S+", "TopicId: ?", described).splitlines() == [
        f"Topic: {topic}\tTopicId: ?\tPartitionCount: 2\tReplicationFactor: 1\t"
        "Configs: min.insync.replicas=1,retention.ms=5000",
        f"\tTopic: {topic}\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: \tLastKnownElr: ",
        f"\tTopic: {topic}\tPartition: 1\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: \tLastKnownElr: ",
    ]
    exists = shell.run("TopicCommand", "--create", "--topic", topic)
    assert (exists.code, exists.out) == (1, f"Error while executing topic command : Topic '{topic}' already exists.\n")
    assert shell.out("TopicCommand", "--alter", "--topic", topic, "--partitions", "4") == ""
    until(True, lambda: "PartitionCount: 4" in shell.out("TopicCommand", "--describe", "--topic", topic))
    assert shell.out("TopicCommand", "--delete", "--topic", topic) == ""
    until(False, lambda: topic in shell.out("TopicCommand", "--list").splitlines())


def test_replication_factor_beyond_the_cluster(shell: Shell, topic: str) -> None:
    """TopicCommand: a replication factor of 3 on one broker is refused with Kafka's words"""
    refused = shell.run("TopicCommand", "--create", "--topic", topic, "--replication-factor", "3")
    assert refused.code == 1
    assert "Unable to replicate the partition 3 time(s)" in refused.out
    assert "only 1 broker(s) are registered or some brokers have all their log directories cordoned." in refused.out


def test_topic_configs(shell: Shell, server: Server, topic: str) -> None:
    """ConfigCommand: topic configs, described with synonyms, altered, deleted, refused"""
    create(server, topic)
    assert shell.configs(
        "topics", topic, "--alter", "--add-config", "retention.ms=7000,cleanup.policy=[compact,delete]"
    ) == (f"Completed updating config for topic {topic}.\n")
    until(
        f"Dynamic configs for topic {topic} are:\n"
        "  cleanup.policy=compact,delete sensitive=false "
        "synonyms={DYNAMIC_TOPIC_CONFIG:cleanup.policy=compact,delete, DEFAULT_CONFIG:log.cleanup.policy=delete}\n"
        "  retention.ms=7000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=7000}\n",
        lambda: shell.configs("topics", topic, "--describe"),
    )
    shell.configs("topics", topic, "--alter", "--delete-config", "retention.ms,cleanup.policy")
    until(f"Dynamic configs for topic {topic} are:\n", lambda: shell.configs("topics", topic, "--describe"))
    entity = ("--entity-type", "topics", "--entity-name", topic)
    refused = shell.run("kafka.admin.ConfigCommand", *entity, "--alter", "--add-config", "nonsense=5")
    assert refused.code == 1
    assert "InvalidConfigurationException: Unknown topic config name: nonsense" in refused.err


def test_broker_configs(shell: Shell) -> None:
    """ConfigCommand: a broker's and the cluster's dynamic configs"""
    assert shell.configs("brokers", "1", "--alter", "--add-config", "log.cleaner.threads=2") == (
        "Completed updating config for broker 1.\n"
    )
    until(
        "Dynamic configs for broker 1 are:\n  log.cleaner.threads=2 sensitive=false "
        "synonyms={DYNAMIC_BROKER_CONFIG:log.cleaner.threads=2, DEFAULT_CONFIG:log.cleaner.threads=1}\n",
        lambda: shell.configs("brokers", "1", "--describe"),
    )
    shell.configs("brokers", "1", "--alter", "--delete-config", "log.cleaner.threads")
    until("Dynamic configs for broker 1 are:\n", lambda: shell.configs("brokers", "1", "--describe"))
    default = ("kafka.admin.ConfigCommand", "--entity-type", "brokers", "--entity-default")
    shell.out(*default, "--alter", "--add-config", "log.retention.bytes=123456789")
    until(True, lambda: "log.retention.bytes=123456789" in shell.out(*default, "--describe"))
    shell.out(*default, "--alter", "--delete-config", "log.retention.bytes")
    refused = shell.run(*default, "--alter", "--add-config", "node.id=5")
    assert refused.code == 1


def test_quotas_and_users(shell: Shell) -> None:
    """ConfigCommand: quotas and SCRAM credentials of users and client ids"""
    for change in ("producer_byte_rate=1024", "SCRAM-SHA-512=[password=p]"):
        changed = shell.configs("users", "bob", "--alter", "--add-config", change)
        assert changed == "Completed updating config for user bob.\n"
    until(
        "Quota configs for user-principal 'bob' are producer_byte_rate=1024.0\n"
        "SCRAM credential configs for user-principal 'bob' are SCRAM-SHA-512=iterations=4096\n",
        lambda: shell.configs("users", "bob", "--describe"),
    )
    shell.configs("clients", "app", "--alter", "--add-config", "consumer_byte_rate=2048")
    until(
        "Quota configs for client-id 'app' are consumer_byte_rate=2048.0\n",
        lambda: shell.configs("clients", "app", "--describe"),
    )
    shell.configs("clients", "app", "--alter", "--delete-config", "consumer_byte_rate")
    for name in ("producer_byte_rate", "SCRAM-SHA-512"):
        shell.configs("users", "bob", "--alter", "--delete-config", name)
    until("", lambda: shell.configs("users", "bob", "--describe"))


def test_offsets(shell: Shell, server: Server, topic: str) -> None:
    """GetOffsetShell: ends, beginnings, largest times, ranges of partitions"""
    create(server, topic, partitions=3)
    confluent.write(server.bootstrap, topic, [Record(None, b"v", (), number) for number in (5, 9, 7)])
    ends = f"{topic}:0:3\n{topic}:1:0\n{topic}:2:0\n"
    assert shell.out("GetOffsetShell", "--topic", topic) == ends
    assert shell.out("GetOffsetShell", "--topic", topic, "--time", "earliest") == ends.replace(":3\n", ":0\n")
    assert (
        shell.out("GetOffsetShell", "--topic-partitions", f"{topic}:0-1", "--time", "max-timestamp") == f"{topic}:0:1\n"
    )


def test_log_directories(shell: Shell, server: Server, topic: str) -> None:
    """LogDirsCommand: directories, sizes, lag"""
    create(server, topic)
    confluent.write(server.bootstrap, topic, [Record(None, b"v", (), 1)])
    printed = shell.out("LogDirsCommand", "--describe", "--topic-list", topic).splitlines()
    [broker] = json.loads(printed[-1])["brokers"]
    [directory] = broker["logDirs"]
    assert (broker["broker"], directory["logDir"], directory["error"]) == (1, str(server.log_directory), None)
    size = (server.log_directory / f"{topic}-0" / "00000000000000000000.log").stat().st_size
    assert directory["partitions"] == [{"partition": f"{topic}-0", "size": size, "offsetLag": 0, "isFuture": False}]


def test_dump(tools: ToolHost, server: Server, topic: str) -> None:
    """DumpLogSegments reads our records, indexes and metadata log and finds nothing wrong"""
    create(server, topic)
    confluent.write(
        server.bootstrap, topic, [Record(b"k%d" % n, b"v%d" % n, (), n + 1) for n in range(3)], linger_ms=50
    )
    logs = server.log_directory
    outcome = tools.run(
        "DumpLogSegments", "--deep-iteration", "--print-data-log", "--files", str(logs / f"{topic}-0" / f"{0:020}.log")
    )
    assert outcome.code == 0
    assert re.findall(r"key: (\S+) payload: (\S+)", outcome.out) == [("k0", "v0"), ("k1", "v1"), ("k2", "v2")]
    assert "isvalid: false" not in outcome.out
    metadata = logs / "__cluster_metadata-0" / f"{0:020}.log"
    outcome = tools.run("DumpLogSegments", "--cluster-metadata-decoder", "--files", str(metadata))
    assert outcome.code == 0
    assert f'"name":"{topic}"' in outcome.out
    assert "isvalid: false" not in outcome.out


def test_quorum(shell: Shell, tools: ToolHost, server: Server) -> None:
    """MetadataQuorumCommand: status and replication, through the broker and through the controller"""
    status = shell.out("MetadataQuorumCommand", "describe", "--status")
    assert re.match(
        r"ClusterId: +(\S+)\nLeaderId: +1\nLeaderEpoch: +\d+\nHighWatermark: +\d+\nMaxFollowerLag: +0\n", status
    )
    assert f'"endpoints": ["CONTROLLER://127.0.0.1:{server.controller_port}"]' in status
    replication = shell.out("MetadataQuorumCommand", "describe", "--replication").splitlines()
    assert replication[0].split("\t")[:4] == ["NodeId", "DirectoryId           ", "LogEndOffset", "Lag"]
    assert re.match(r"1     \t\S{22}\t\d+ *\t0  \t\d+ *\t\d+ *\tLeader\t", replication[1])
    controller = ("--bootstrap-controller", f"127.0.0.1:{server.controller_port}")
    outcome = tools.run("MetadataQuorumCommand", *controller, "describe", "--status")
    assert (outcome.code, outcome.out.splitlines()[1]) == (0, "LeaderId:               1")


def test_features(shell: Shell) -> None:
    """FeatureCommand: the features of Kafka 4.3, finalised at their levels"""
    lines = [re.split(r"\s{2,}|\t", line) for line in shell.out("FeatureCommand", "describe").splitlines()]
    levels = {line[0].removeprefix("Feature: "): line[3].removeprefix("FinalizedVersionLevel: ") for line in lines}
    assert levels == {
        "eligible.leader.replicas.version": "1",
        "group.version": "1",
        "kraft.version": "1",
        "metadata.version": "4.3-IV0",
        "share.version": "1",
        "streams.version": "1",
        "transaction.version": "2",
    }


def test_cluster(shell: Shell, tools: ToolHost, server: Server) -> None:
    """ClusterTool: cluster id, endpoints, unregistering an unknown broker"""
    to = ("--bootstrap-server", server.bootstrap)
    assert tools.run("ClusterTool", "cluster-id", *to).out == f"Cluster ID: {CLUSTER_ID}\n"
    endpoints = tools.run("ClusterTool", "list-endpoints", *to).out.splitlines()
    assert endpoints[1].split() == ["1", "127.0.0.1", str(server.port), "null", "unfenced", "broker"]
    refused = tools.run("ClusterTool", "unregister", *to, "--id", "7")
    assert (refused.code, "Broker ID 7 is not currently registered" in refused.err) == (1, True)


def test_api_versions(shell: Shell, server: Server) -> None:
    """BrokerApiVersionsCommand: what we serve, in versions that it knows"""
    lines = shell.out("BrokerApiVersionsCommand").splitlines()
    assert lines[0] == f"{server.bootstrap} (id: 1 rack: null isFenced: false) -> ("
    assert "\tProduce(0): 0 to 13 [usable: 13]," in lines
    assert "\tFetch(1): 4 to 18 [usable: 18]," in lines
    assert not [line for line in lines if "UNKNOWN" in line]


def test_delete_records(shell: Shell, server: Server, topic: str, tmp_path: Path) -> None:
    """DeleteRecordsCommand moves the start of a partition, and says so"""
    create(server, topic)
    confluent.write(server.bootstrap, topic, [Record(None, b"v", (), 1)] * 5)
    wish = tmp_path / "wish.json"
    wish.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 0, "offset": 3}], "version": 1}))
    assert shell.out("DeleteRecordsCommand", "--offset-json-file", str(wish)).splitlines()[-1] == (
        f"partition: {topic}-0\tlow_watermark: 3"
    )


def test_leader_election(shell: Shell, server: Server, topic: str) -> None:
    """LeaderElectionCommand: a leader that is the preferred one stays"""
    create(server, topic)
    wish = ("--election-type", "preferred", "--topic", topic, "--partition", "0")
    assert shell.out("LeaderElectionCommand", *wish) == f"Valid replica already elected for partitions {topic}-0\n"


def test_reassignment(shell: Shell, server: Server, topic: str, tmp_path: Path) -> None:
    """ReassignPartitionsCommand: execute, verify and list on one broker"""
    create(server, topic)
    wish = tmp_path / "wish.json"
    moves = [{"topic": topic, "partition": 0, "replicas": [1], "log_dirs": ["any"]}]
    wish.write_text(json.dumps({"version": 1, "partitions": moves}))
    plan = ("reassign.ReassignPartitionsCommand", "--reassignment-json-file", str(wish))
    assert f"Successfully started partition reassignment for {topic}-0\n" in shell.out(*plan, "--execute")
    assert f"Reassignment of partition {topic}-0 is completed.\n" in shell.out(*plan, "--verify")
    assert shell.out("reassign.ReassignPartitionsCommand", "--list") == "No partition reassignments found.\n"


def test_producers(shell: Shell, server: Server, topic: str) -> None:
    """TransactionsCommand describe-producers shows idempotent producers"""
    create(server, topic)
    confluent.write(server.bootstrap, topic, [Record(None, b"v", (), 1)] * 5, enable_idempotence=True)
    lines = shell.out("TransactionsCommand", "describe-producers", "--topic", topic, "--partition", "0").splitlines()
    producer = [cell.strip() for cell in lines[1].split("\t")]
    assert (producer[1], producer[3], producer[5]) == ("0", "4", "None")


def test_acls_without_an_authorizer(shell: Shell) -> None:
    """AclCommand: refused where no authorizer is configured"""
    refused = shell.run("AclCommand", "--list")
    assert (refused.code, "SecurityDisabledException: No Authorizer is configured" in refused.out) == (1, True)


def test_client_metrics(shell: Shell) -> None:
    """ClientMetricsCommand: subscriptions are stored and described"""
    subscription = ("--name", "subscription", "--metrics", "org.apache.kafka.producer.", "--interval", "60000")
    shell.out("ClientMetricsCommand", "--alter", *subscription)
    until("subscription\n", lambda: shell.out("ClientMetricsCommand", "--list"))
    described = shell.out("ClientMetricsCommand", "--describe", "--name", "subscription")
    assert "interval.ms=60000" in described
    shell.out("ClientMetricsCommand", "--delete", "--name", "subscription")
