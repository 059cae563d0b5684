"""Clients that append to the leader, and remember what they were told was committed."""

from ottla.raft.roles.leader import Leader
from ottla.testing.simulation.raft.quorum_cluster import QuorumCluster
from ottla.testing.simulation.raft.raft_part import RaftPart


class Workload:
    """Appends records of their own to believed leaders, one or a few together."""

    def __init__(self, cluster: QuorumCluster) -> None:
        self._cluster = cluster
        self._count = 0
        self._is_running = False

    def start(self) -> None:
        """Begins to append."""
        self._is_running = True
        self._plan()

    def stop(self) -> None:
        """Appends nothing more by itself."""
        self._is_running = False

    def append(self, raft: RaftPart) -> None:
        """Appends through a node, which may turn out not to lead."""
        random = self._cluster.random
        values = [self._value() for _ in range(random.randint(1, 3))]
        role = raft.core.role
        if not isinstance(role, Leader):
            return

        def do() -> None:
            last_offset = raft.append(role.epoch, values)
            if last_offset is not None:
                self._await_commit(raft, role.epoch, last_offset, values)

        raft.node.act(do)

    def _plan(self) -> None:
        interval_ms = self._cluster.scenario.append_interval_ms
        self._cluster.queue.after(self._cluster.random.randint(1, 2 * interval_ms), self._tick)

    def _tick(self) -> None:
        if not self._is_running:
            return
        leaders = self._cluster.leaders()
        if leaders:
            # An old leader that does not know better gets some as well: those must never be committed.
            self.append(self._cluster.random.choice(leaders))
        self._plan()

    def _value(self) -> bytes:
        self._count += 1
        return b"record %d" % self._count

    def _await_commit(self, raft: RaftPart, epoch: int, last_offset: int, values: list[bytes]) -> None:
        """Looks every now and then whether the leader has committed; a client that loses its leader gives up."""
        role = raft.core.role
        if not isinstance(role, Leader) or role.epoch != epoch:
            return
        if (raft.core.high_watermark or 0) <= last_offset:
            raft.node.later(50, lambda: self._await_commit(raft, epoch, last_offset, values))
            return
        first_offset = last_offset - len(values) + 1
        for delta, value in enumerate(values):
            self._cluster.losses.acknowledged[epoch, first_offset + delta] = value
