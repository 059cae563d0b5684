"""What a soak counts and how it judges; the soak itself is for `make soak` alone."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from ottla.cli.node.object_count import VARIABLE
from ottla.protocol.messages.api_versions import ApiVersionsRequest
from tests.kafka.cluster import Cluster
from tests.kafka.wire import Wire
from tests.soak.sample import RSS, Sample, Sampler
from tests.soak.verdict import grown, table

_SAMPLE = Sample(
    node_id=1,
    at_seconds=0,
    process={RSS: 100_000, "threads": 13, "descriptors": 50, "memory maps": 400, "blocks": 300_000, "garbage": 0},
    files={".log": 40, ".snapshot": 10},
    types={"builtins.dict": 5_000},
)


def test_a_node_tells_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is opened is seen, and what is closed is gone."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    cluster = Cluster(tmp_path, 1)
    [node] = cluster.nodes
    try:
        cluster.start()
        sampler = Sampler(tmp_path)
        sampler.sample(node)
        before = sampler.sample(node)
        connections = [Wire(node.address) for _ in range(30)]
        for connection in connections:
            connection.ask(ApiVersionsRequest(), 0)
        during = sampler.sample(node)
        for connection in connections:
            connection.socket.close()
        assert during.process["descriptors"] >= before.process["descriptors"] + 30
        assert "node 1: descriptors grew from " in "\n".join(grown(before, during))
        assert before.files[".lock"] == 2
        assert sum(before.types.values()) > 0
        assert not node.stop()
    finally:
        cluster.kill()


def test_without_the_variable_the_signal_is_as_it_was(tmp_path: Path) -> None:
    """Nothing is installed: SIGUSR1 ends the process as it ends any other."""
    assert VARIABLE not in os.environ
    cluster = Cluster(tmp_path, 1)
    [node] = cluster.nodes
    try:
        cluster.start()
        assert node.stop(signal.SIGUSR1) == -signal.SIGUSR1
    finally:
        cluster.kill()


def test_what_is_no_growth() -> None:
    """A twentieth, a little more where there are few, and what elections leave in a compacted log."""
    after = replace(
        _SAMPLE,
        process={**_SAMPLE.process, RSS: 105_000, "threads": 14},
        files={".log": 42, ".deleted": 2},
        types={**_SAMPLE.types, "ottla.storage.leader_epoch.checkpoint.EpochEntry": 400},
    )
    assert not grown(_SAMPLE, after)


def test_what_is_growth() -> None:
    """Each of the kinds is looked at, and one that was not there before."""
    after = replace(
        _SAMPLE,
        process={name: count * 2 for name, count in _SAMPLE.process.items()},
        files={".log": 80, ".deleted": 9},
        types={"builtins.dict": 5_400, "ottla.Forgotten": 400},
    )
    assert grown(_SAMPLE, after) == [
        "node 1: RSS kB grew from 100,000 to 200,000",
        "node 1: blocks grew from 300,000 to 600,000",
        "node 1: descriptors grew from 50 to 100",
        "node 1: files .deleted grew from 0 to 9",
        "node 1: files .log grew from 40 to 80",
        "node 1: memory maps grew from 400 to 800",
        "node 1: objects builtins.dict grew from 5,000 to 5,400",
        "node 1: objects ottla.Forgotten grew from 0 to 400",
        "node 1: threads grew from 13 to 26",
    ]


def test_the_table_shows_the_moments_beside_each_other() -> None:
    """A column each."""
    lines = table({"before": _SAMPLE, "at the end": _SAMPLE}).splitlines()
    assert lines[0].split() == ["before", "at", "the", "end"]
    assert ["files", ".log", "40", "40"] in [line.split() for line in lines]
