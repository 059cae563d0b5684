"""The world of the metadata for the runner: `python -m ottla.testing.simulation --world metadata`."""

from typing import Final

from ottla.testing.simulation.metadata.cluster import MetadataCluster, metadata_scenario
from ottla.testing.simulation.metadata.workload import MetadataWorkload
from ottla.testing.simulation.raft.quorum_cluster import QuorumCluster
from ottla.testing.simulation.runner import World


def _make_workload(cluster: QuorumCluster) -> MetadataWorkload:
    assert isinstance(cluster, MetadataCluster)
    return MetadataWorkload(cluster, cluster.history)


def _has_recovered(cluster: QuorumCluster) -> bool:
    return isinstance(cluster, MetadataCluster) and cluster.has_recovered()


METADATA: Final = World("metadata", metadata_scenario, MetadataCluster, _make_workload, _has_recovered)
