"""Voters of a mixed quorum come and go by Apache Kafka's tools, under leaders of both kinds.

`OTTLA_TEST_MIXED=1` raises kraft.version under a leader of each kind; by default under ours alone.
"""

import os

import pytest

from ottla.base.ids import Uuid
from ottla.storage.disk.local import LocalDisk
from ottla.storage.meta_properties import read_meta_properties
from tests.integration.mixed.cluster import MixedCluster
from tests.integration.mixed.conftest import MakeCluster
from tests.integration.mixed.member import Kind, Member, Voters
from tests.integration.mixed.metadata_log import assert_same
from tests.integration.mixed.topics import Topics
from tests.kafka.peer import java

pytestmark = pytest.mark.long

LEADERS = (3001, 3002) if os.environ.get("OTTLA_TEST_MIXED") else (3002,)


def test_voters_come_and_go(make_cluster: MakeCluster) -> None:
    cluster = make_cluster({3001: Kind.APACHE, 3002: Kind.OTTLA}, {1: Kind.OTTLA}, Voters.DYNAMIC)
    cluster.start()
    topics = Topics(cluster.bootstrap)
    topics.create()
    joiner = cluster.add_controller(3003, Kind.OTTLA)
    joiner.start()
    cluster.until_caught_up(3003)
    assert "Added controller 3003" in quorum_tool(cluster, "add-controller", joiner)
    until_voters(cluster, 3001, 3002, 3003)
    for leader, other in ((3001, 3002), (3002, 3001)):
        cluster.make_lead(cluster.controllers[leader], topics.create)
        member = cluster.controllers[other]
        assert f"Removed  KRaft controller {other}" in remove(cluster, member)
        until_voters(cluster, leader, 3003)
        topics.create()
        cluster.until_caught_up(other)
        assert f"Added controller {other}" in quorum_tool(cluster, "add-controller", member)
        until_voters(cluster, 3001, 3002, 3003)
        topics.create()
    # The leader itself goes, and somebody of the others takes over.
    remove(cluster, cluster.leader())
    until_voters(cluster, 3001, 3003)
    topics.create()
    assert_same(cluster, topics)


@pytest.mark.parametrize("leader_id", LEADERS)
def test_static_voters_become_dynamic(leader_id: int, make_cluster: MakeCluster) -> None:
    kinds = {3001: Kind.APACHE, 3002: Kind.OTTLA, 3003: Kind.OTTLA}
    cluster = make_cluster(kinds, {1: Kind.OTTLA}, Voters.STATIC)
    cluster.start()
    topics = Topics(cluster.bootstrap)
    cluster.make_lead(cluster.controllers[leader_id], topics.create)
    cluster.until(lambda: is_raised(cluster))
    wanted = {(member.node_id, directory_id(member)) for member in cluster.controllers.values()}

    def are_known() -> bool:
        found = cluster.described()
        return found is not None and wanted == {
            (voter.replica_id, voter.replica_directory_id) for voter in found.current_voters
        }

    cluster.until(are_known)
    [leaver] = [node_id for node_id in (3001, 3002) if node_id != leader_id]
    remove(cluster, cluster.controllers[leaver])
    until_voters(cluster, leader_id, 3003)
    topics.create()
    assert_same(cluster, topics)


def is_raised(cluster: MixedCluster) -> bool:
    """Raises kraft.version, unless the leader has not heard yet from all voters what they support."""
    upgrade = ("upgrade", "--feature", "kraft.version=1")
    try:
        java("org.apache.kafka.tools.FeatureCommand", "--bootstrap-server", cluster.bootstrap, *upgrade)
    except AssertionError as error:
        if "not all of the voters support it" not in str(error):
            raise
        return False
    return True


def until_voters(cluster: MixedCluster, *wanted: int) -> None:
    def are_voters() -> bool:
        found = cluster.described()
        return found is not None and {voter.replica_id for voter in found.current_voters} == set(wanted)

    cluster.until(are_voters)


def quorum_tool(cluster: MixedCluster, action: str, controller: Member, *arguments: str) -> str:
    """What Apache Kafka's tool prints that was told to do something with a controller."""
    servers = ",".join(cluster.quorum.addresses.values())
    return java(
        "org.apache.kafka.tools.MetadataQuorumCommand",
        "--bootstrap-controller",
        servers,
        "--command-config",
        str(controller.config),
        action,
        *arguments,
    )


def directory_id(controller: Member) -> Uuid:
    properties = read_meta_properties(LocalDisk(), str(controller.log_directory))
    assert properties is not None
    assert properties.directory_id is not None
    return properties.directory_id


def remove(cluster: MixedCluster, controller: Member) -> str:
    identity = ("--controller-id", str(controller.node_id), "--controller-directory-id", str(directory_id(controller)))
    return quorum_tool(cluster, "remove-controller", controller, *identity)
