"""What the nodes of a cluster hold on their disks, once they have stopped: every replica the same batches.

A batch is compared as bytes. Replicas may begin at different offsets, and end segments at different places. Internal
topics are left out: each replica compacts them for itself.
"""

from collections.abc import Iterator
from pathlib import Path

from tests.kafka.cluster import Cluster

_INTERNAL = "__"


def differences(cluster: Cluster) -> list[str]:
    """What is wrong, in a line for each partition; nothing, if the replicas are one another's copies."""
    found: dict[str, dict[int, Path]] = {}
    wrong: list[str] = []
    for node in cluster.nodes:
        for directory in _partition_directories(node.log_directories):
            copies = found.setdefault(directory.name, {})
            if node.node_id in copies:
                wrong.append(f"{directory.name} is twice on node {node.node_id}")
            copies[node.node_id] = directory
    for name, copies in sorted(found.items()):
        batches = {node_id: dict(_batches(path)) for node_id, path in copies.items()}
        wrong += [f"{name}: {text}" for text in _compared(batches)]
    return wrong


def _partition_directories(log_directories: tuple[Path, ...]) -> Iterator[Path]:
    for home in log_directories:
        for directory in sorted(home.iterdir()):
            is_partition = directory.is_dir() and not directory.name.startswith(_INTERNAL)
            if is_partition and not directory.name.endswith("-delete"):
                yield directory


def _batches(directory: Path) -> Iterator[tuple[int, bytes]]:
    for segment in sorted(directory.glob("*.log")):
        records = segment.read_bytes()
        at = 0
        while at < len(records):
            size = 12 + int.from_bytes(records[at + 8 : at + 12], "big")
            yield int.from_bytes(records[at : at + 8], "big"), records[at : at + size]
            at += size


def _compared(batches: dict[int, dict[int, bytes]]) -> Iterator[str]:
    """Where replicas differ: from the latest of their beginnings on, all have the same."""
    starts = {node_id: min(found, default=None) for node_id, found in batches.items()}
    begin = max((start for start in starts.values() if start is not None), default=0)
    kept = {
        node_id: {offset: batch for offset, batch in found.items() if offset >= begin}
        for node_id, found in batches.items()
    }
    (first_id, first), *others = kept.items()
    for node_id, found in others:
        odd = [offset for offset in sorted({*first, *found}) if first.get(offset) != found.get(offset)]
        if odd:
            there = (first.get(odd[0]) is not None, found.get(odd[0]) is not None)
            yield f"nodes {first_id} and {node_id} differ at {odd[:3]} ({len(odd)} batches, there: {there})"
