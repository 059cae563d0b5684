"""What a node holds at a moment: memory, files, descriptors, threads, maps, and objects by type."""

import json
import os
import re
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ottla.cli.node.object_count import counts_file
from tests.kafka.cluster import Node

_PATIENCE_SECONDS = 60.0
_QUORUM = "__cluster_metadata"


@dataclass(frozen=True)
class Sample:
    """One look at one node; what is counted, by name."""

    node_id: int
    at_seconds: float
    process: Mapping[str, int]
    files: Mapping[str, int]
    types: Mapping[str, int]

    @property
    def counts(self) -> dict[str, int]:
        """All of it under one roof; what the collector found is told apart: it is no state."""
        files = {f"files {kind}": count for kind, count in self.files.items()}
        types = {f"objects {name}": count for name, count in self.types.items()}
        return {name: count for name, count in self.process.items() if name != GARBAGE} | files | types


GARBAGE = "garbage"
"""Objects that only the collector could free, since the sample before."""
RSS = "RSS kB"


class Sampler:
    """Looks at nodes whose environment has the object counts of `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._began = time.monotonic()
        directory.mkdir(parents=True, exist_ok=True)

    def sample(self, node: Node) -> Sample:
        """One look; the objects last, as the collector then runs in the node."""
        process = {RSS: _rss_kb(node.pid)} | {
            "threads": _entries(node.pid, "task"),
            "descriptors": _entries(node.pid, "fd"),
            "memory maps": Path(f"/proc/{node.pid}/maps").read_bytes().count(b"\n"),
        }
        files = _files_by_kind(node.log_directories)
        objects = self._objects(node)
        process |= {"blocks": objects["blocks"], GARBAGE: objects["garbage"]}
        return Sample(node.node_id, time.monotonic() - self._began, process, files, objects["types"])

    def _objects(self, node: Node) -> dict[str, "int | dict[str, int]"]:
        path = counts_file(self._directory, node.pid)
        path.unlink(missing_ok=True)
        os.kill(node.pid, signal.SIGUSR1)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not path.exists():
            assert node.is_running, f"{node.name} ended:\n{node.output()}"
            assert time.monotonic() < deadline, f"{node.name} did not count its objects for {_PATIENCE_SECONDS:g} s"
            time.sleep(0.05)
        return json.loads(path.read_text())


def _rss_kb(pid: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found, f"process {pid} tells no VmRSS"
    return int(found.group(1))


def _entries(pid: int, kind: str) -> int:
    return len(os.listdir(f"/proc/{pid}/{kind}"))


def _files_by_kind(directories: tuple[Path, ...]) -> dict[str, int]:
    """By the end of the name, those of the quorum's log apart."""
    found: Counter[str] = Counter()
    for root in directories:
        for at, _, names in os.walk(root):
            place = "quorum " if at.rpartition("/")[2].startswith(_QUORUM) else ""
            found.update(f"{place}{Path(name).suffix or name}" for name in names)
            found["directories"] += 1
    return dict(found)
