"""Tools about the cluster as a whole beside Kafka's own: quorum, cluster, features, versions of APIs."""

from collections.abc import Callable

import pytest

from tests.clients.client.java import ToolHost
from tests.integration.cli.side_by_side import SideBySide
from tests.kafka.server import Server

TO = ("--bootstrap-server", "{broker}")
TO_CONTROLLER = ("--bootstrap-controller", "{controller}")
NUMBERS = r"(?<=HighWatermark: )\s+\d+|(?<=\t)\d+ *(?=\t)|Epoch: \d+"

Tool = Callable[[str, str], SideBySide]


@pytest.fixture
def tool(java_tools: ToolHost, tool_server: Server) -> Tool:
    return lambda java, ours: SideBySide(java_tools, tool_server, java, ours)


def test_the_quorum(tool: Tool, tool_server: Server) -> None:
    both = tool("MetadataQuorumCommand", "metadata_quorum")
    for whom in (TO, TO_CONTROLLER):
        assert both.same(*whom, "describe", "--status", normal=NUMBERS).out.startswith("ClusterId: ")
        both.same(*whom, "describe", "--replication", normal=NUMBERS)
    aged = r"\d+ ms ago *|(?<=\t)\d+ *(?=\t)|(?<=LastFetchTimestamp) *|(?<=LastCaughtUpTimestamp) *"
    both.same(*TO, "describe", "--replication", "--human-readable", normal=aged)
    config = ("--command-config", str(tool_server.config))
    both.same(*TO, *config, "add-controller", "--dry-run")
    gone = ("remove-controller", "--controller-id", "7", "--controller-directory-id", "AAAAAAAAAAAAAAAAAAAAAw")
    both.same(*TO, *gone, "--dry-run")
    both.same(*TO, *gone)
    for wrong in (
        "describe",
        "describe --status --replication",
        "describe --status --human-readable",
        "add-controller",
        "remove-controller --controller-id -7 --controller-directory-id AAAAAAAAAAAAAAAAAAAAAw --dry-run",
        "remove-controller --controller-id 7 --controller-directory-id zz",
        "--command-config /nowhere describe --status",
    ):
        both.same(*TO, *wrong.split())
    for call in (TO, (*TO, "nonsense"), ("describe", "--status"), (*TO, "describe", "--foo")):
        java, ours = both.java(*call), both.ours(*call)
        assert (ours.code, ours.out) == (java.code, java.out)


def test_the_cluster(tool: Tool) -> None:
    both = tool("ClusterTool", "cluster")
    for whom in (TO, TO_CONTROLLER):
        both.same("cluster-id", *whom)
        both.same("list-endpoints", *whom)
    both.same("list-endpoints", *TO, "--include-fenced-brokers")
    both.same("list-endpoints", *TO_CONTROLLER, "--include-fenced-brokers")
    both.same("cluster-id", *TO, "--config", "/dev/null")
    refused = both.same("unregister", *TO, "--id", "7")
    assert "Broker ID 7 is not currently registered" in refused.err
    for call in ((), ("cluster-id",), ("unregister", *TO), ("nonsense", *TO)):
        assert both.ours(*call).code == 1


def test_features(tool: Tool) -> None:
    both = tool("FeatureCommand", "features")
    for call in ((*TO, "describe"), (*TO_CONTROLLER, "describe"), (*TO, "describe", "--node-id", "1")):
        assert both.same(*call, normal=NUMBERS).out.count("Feature: ") == 7
    for change in (
        "upgrade --feature group.version=1",
        "upgrade --release-version 4.3-IV0 --dry-run",
        "downgrade --feature group.version=0 --dry-run",
        "disable --feature streams.version --dry-run",
        "upgrade --feature group.version=9",
        "upgrade --feature unheard.of=1",
        "upgrade --feature a",
        "upgrade --feature a=x",
        "upgrade --feature group.version=1 --feature group.version=1",
        "upgrade --release-version 4.3-IV0 --feature a=1",
        "upgrade --metadata 4.3-IV0",
        "downgrade --metadata 4.0-IV0 --dry-run",
        "upgrade",
        "disable",
        "downgrade --feature metadata.version=20 --dry-run",
        "downgrade --feature group.version=0 --unsafe --dry-run",
        "disable --feature unheard.of --unsafe",
        "describe --node-id -1",
    ):
        both.same(*TO, *change.split())
    for call in (
        "version-mapping",
        "version-mapping --release-version 4.0",
        "feature-dependencies --feature group.version=1",
        "feature-dependencies --feature eligible.leader.replicas.version=1",
        "feature-dependencies --feature a=1",
        "feature-dependencies --feature metadata.version=99",
        "feature-dependencies --feature group.version=9",
        "feature-dependencies --feature group.version",
        "feature-dependencies",
        "describe",
        "",
    ):
        both.same(*call.split())


def test_versions_of_apis(tool: Tool) -> None:
    both = tool("BrokerApiVersionsCommand", "broker_api_versions")
    lines = both.same(*TO).out.splitlines()
    assert "\tProduce(0): 0 to 13 [usable: 13]," in lines
    for wrong in ("--foo", "--help"):
        both.same(*TO, wrong)
    both.same("--command-config", "/dev/null")
