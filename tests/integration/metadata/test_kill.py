"""A controller is killed with -9 again and again: every topic whose creation it answered is there."""

import subprocess
import sys
from pathlib import Path

from ottla.storage.disk.local import LocalDisk
from tests.integration.metadata.victim import CONFIG
from tests.unit.metadata.store.node import Node, format_standalone

ROUNDS = 6


def test_answered_topics_survive_kill_9(tmp_path: Path) -> None:
    directory = str(tmp_path)
    format_standalone(LocalDisk(), directory)
    answered: set[str] = set()
    for count in range(ROUNDS):
        command = [sys.executable, "-m", "tests.integration.metadata.victim", directory]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
            assert victim.stdout is not None
            for _ in range(7 + 5 * count):
                answered.add(victim.stdout.readline().strip())
            victim.kill()
            answered |= {line.strip() for line in victim.stdout if line.endswith("\n")}
        node = Node(LocalDisk(), directory, CONFIG)
        assert node.topics() >= answered
        # At most one creation was under way.
        assert len(node.topics()) <= len(answered) + 1
        answered |= node.topics()
        node.store.close()
    assert len(answered) > ROUNDS * 7
