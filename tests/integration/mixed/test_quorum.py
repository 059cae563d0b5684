"""Controllers of Apache Kafka and of Ottla in one quorum: each leads in turn, and all hold the same log.

`OTTLA_TEST_MIXED=1` has each lead in every mixture, on static and on dynamic voters; by default it is one of the four,
and snapshots travel in another.
"""

import os

import pytest

from tests.integration.mixed.conftest import MakeCluster
from tests.integration.mixed.member import Kind, Member, Voters
from tests.integration.mixed.metadata_log import assert_same
from tests.integration.mixed.topics import Topics

pytestmark = pytest.mark.long

MOSTLY_OTTLA = {3001: Kind.APACHE, 3002: Kind.OTTLA, 3003: Kind.OTTLA}
MOSTLY_APACHE = {3001: Kind.APACHE, 3002: Kind.OTTLA, 3003: Kind.APACHE}
MIXTURES = {"two of Apache's, dynamic": (MOSTLY_APACHE, Voters.DYNAMIC)}
if os.environ.get("OTTLA_TEST_MIXED"):
    MIXTURES |= {
        "two of Apache's, static": (MOSTLY_APACHE, Voters.STATIC),
        "two of ours, dynamic": (MOSTLY_OTTLA, Voters.DYNAMIC),
        "two of ours, static": (MOSTLY_OTTLA, Voters.STATIC),
    }


@pytest.mark.parametrize("mixture", MIXTURES)
def test_each_leads_in_turn(mixture: str, make_cluster: MakeCluster) -> None:
    kinds, voters = MIXTURES[mixture]
    cluster = make_cluster(kinds, {1: Kind.OTTLA}, voters)
    cluster.start()
    topics = Topics(cluster.bootstrap)
    topics.create()
    for controller in cluster.controllers.values():
        cluster.make_lead(controller, topics.create)
        topics.create()
    assert_same(cluster, topics)


def test_each_takes_a_snapshot_from_the_other(make_cluster: MakeCluster) -> None:
    cluster = make_cluster(MOSTLY_OTTLA, {1: Kind.OTTLA}, Voters.STATIC)
    cluster.start(
        metadata_log_max_record_bytes_between_snapshots="2000",
        metadata_max_retention_bytes="1000",
        metadata_log_segment_ms="300",
        # Logs that are cut this short would otherwise share no batch, if one is killed a moment before the other.
        metadata_max_idle_interval_ms="0",
    )
    topics = Topics(cluster.bootstrap)
    apache, ottla, _ = cluster.controllers.values()
    cluster.make_lead(ottla, topics.create)

    def is_log_cut() -> bool:
        topics.create()
        return log_start(ottla) > 0

    cluster.until(is_log_cut)
    # A log that begins with a snapshot: Apache Kafka looks only once a minute whether its own may be cut.
    cluster.wipe(apache)
    cluster.until(lambda: log_start(apache) > 0)
    cluster.until_caught_up()
    cluster.make_lead(apache, topics.create)
    cluster.wipe(ottla)
    cluster.until(lambda: log_start(ottla) > 0)
    cluster.until_caught_up()
    topics.create()
    cluster.make_lead(ottla, topics.create)
    assert_same(cluster, topics)


def log_start(controller: Member) -> int:
    return min((int(file.stem) for file in controller.metadata_directory.glob("*.log")), default=0)
