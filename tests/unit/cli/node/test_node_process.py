"""Which processes `kafka-server-stop` takes for nodes, and what it makes of their command lines."""

import os
from pathlib import Path

import pytest

from ottla.cli.node.node_process import NodeProcess, node_processes


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "uptime").write_text("1")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "c.properties").write_text("process.roles=controller\nnode.id=3\n")
    return tmp_path / "proc"


def _run(proc: Path, pid: int, *words: str) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "cmdline").write_bytes(b"".join(word.encode() + b"\0" for word in words))
    os.symlink(proc.parent / "work", proc / str(pid) / "cwd")


def test_nodes_are_found_by_how_they_were_started(proc: Path) -> None:
    _run(proc, 100000001, "/venv/bin/python", "/venv/bin/kafka-server-start.sh", "c.properties")
    _run(proc, 100000002, "python3.11", "-m", "ottla.cli.kafka.server_start", "c.properties", "--override", "node.id=9")
    _run(proc, 100000003, "python3", "-I", "/venv/bin/ottla", "broker", "--data", "d")
    both = frozenset({"broker", "controller"})
    assert node_processes(proc) == [
        NodeProcess(100000001, 3, frozenset({"controller"})),
        NodeProcess(100000002, 9, frozenset({"controller"})),
        NodeProcess(100000003, 1, both),
    ]


def test_a_node_without_arguments_is_found(proc: Path) -> None:
    _run(proc, 100000001, "python3", "/venv/bin/ottla", "broker")
    assert node_processes(proc) == [NodeProcess(100000001, 1, frozenset({"broker", "controller"}))]


def test_other_processes_are_left_alone(proc: Path) -> None:
    _run(proc, 100000001, "vim", "kafka-server-start.sh")
    _run(proc, 100000002, "python", "/venv/bin/ottla", "config", "docs")
    _run(proc, 100000003, "java", "kafka.Kafka", "c.properties")
    _run(proc, 100000004, "python", "/venv/bin/kafka-server-start.sh", "-daemon", "c.properties")
    _run(proc, 100000005)
    (proc / "100000006").mkdir()
    assert node_processes(proc) == []
