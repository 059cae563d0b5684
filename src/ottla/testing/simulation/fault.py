"""The faults of a quorum: crashes, cuts, pauses, failing disks, clocks that jump, voters that change."""

from ottla.protocol.errors import ApiError
from ottla.protocol.messages import add_raft_voter, remove_raft_voter
from ottla.raft.event import ResignRequested, ShutdownRequested
from ottla.raft.roles.leader import Leader
from ottla.raft.voters.voter_set import VoterSet
from ottla.testing.simulation.fault_plan import FaultPlan
from ottla.testing.simulation.network import HEALTHY
from ottla.testing.simulation.node import SimulatedNode
from ottla.testing.simulation.raft.quorum_cluster import CLUSTER_ID, QuorumCluster
from ottla.testing.simulation.raft.raft_invariant import quorum_of
from ottla.testing.simulation.raft.raft_part import RaftPart, raft_part


class Chaos:
    """Picks faults by chance, among those that the scenario has."""

    def __init__(self, cluster: QuorumCluster) -> None:
        self._cluster = cluster
        self._random = cluster.random
        faults = {
            "partition": self._partition,
            "isolate-leader": self._isolate_leader,
            "cut-one-way": self._cut_one_way,
            "heal-network": self._heal_network,
            "crash": self._crash,
            "crash-leader": self._crash_leader,
            "crash-all": self._crash_all,
            "restart": self._restart,
            "pause": self._pause,
            "fail-disk": self._fail_disk,
            "replace-disk": self._replace_disk,
            "jump-clock": self._jump_clock,
            "resign": self._resign,
            "shut-down": self._shut_down,
            "add-voter": self._add_voter,
            "remove-voter": self._remove_voter,
            "upgrade-kraft-version": self._upgrade_kraft_version,
        }
        scenario = cluster.scenario
        self._plan = FaultPlan(cluster, faults, self._repair, scenario.faults, scenario.fault_interval_ms)

    def start(self) -> None:
        """Begins to break things."""
        self._plan.start()

    def stop(self) -> None:
        """Ends all faults: the network heals, disks work, every node runs."""
        self._plan.end()
        self._cluster.note("everything heals")
        self._cluster.network.heal()
        self._cluster.network.profile = HEALTHY
        for node in self._cluster.nodes.values():
            node.disk.is_failing = False
            if not node.is_running:
                node.start()

    def _repair(self) -> None:
        self._restart()
        self._heal_network()

    def _running(self) -> list[SimulatedNode]:
        return list(self._cluster.running_nodes())

    def _any_node(self) -> SimulatedNode:
        return self._random.choice(list(self._cluster.nodes.values()))

    def _leader(self) -> RaftPart | None:
        leaders = self._cluster.leaders()
        return leaders[0] if leaders else None

    def _partition(self) -> None:
        hosts = [node.host for node in self._cluster.nodes.values()]
        self._random.shuffle(hosts)
        middle = self._random.randint(1, max(1, len(hosts) - 1))
        self._cluster.note(f"partition {sorted(hosts[:middle])} from {sorted(hosts[middle:])}")
        self._cluster.network.partition(hosts[:middle], hosts[middle:])

    def _isolate_leader(self) -> None:
        leader = self._leader()
        if leader is not None:
            others = [node.host for node in self._cluster.nodes.values() if node.host != leader.node.host]
            self._cluster.note(f"isolate {leader.node.host}")
            self._cluster.network.partition([leader.node.host], others)

    def _cut_one_way(self) -> None:
        source, destination = self._any_node().host, self._any_node().host
        self._cluster.note(f"cut {source} to {destination}")
        self._cluster.network.cut(source, destination)

    def _heal_network(self) -> None:
        self._cluster.note("network heals")
        self._cluster.network.heal()

    def _crash(self) -> None:
        self._any_node().crash("by chance")

    def _crash_leader(self) -> None:
        leader = self._leader()
        if leader is not None:
            leader.node.crash("leader")

    def _crash_all(self) -> None:
        for node in self._running():
            node.crash("power cut")
        self._restart()

    def _restart(self) -> None:
        for node in self._cluster.nodes.values():
            node.disk.is_failing = False
            if not node.is_running:
                node.start()

    def _pause(self) -> None:
        self._any_node().pause(self._random.choice((200, 1500, 4000)))

    def _fail_disk(self) -> None:
        node = self._any_node()
        node.note("disk fails")
        node.disk.is_failing = True

    def _replace_disk(self) -> None:
        """Gives a node an empty disk. The new directory id tells it apart from the voter that it was."""
        node, voters = self._any_node(), self._agreed_voters()
        # Static voters are told apart by id alone: an empty disk would vote as if it had never been another.
        if voters is None or self._cluster.ledger.voters.last() is None:
            return
        alive = [key for key in voters.keys if key.id != node.id and self._cluster.is_current(key)]
        if len(alive) > len(voters) // 2:
            self._cluster.replace_disk(node)

    def _agreed_voters(self) -> VoterSet | None:
        """The voters, if all nodes run and agree on them and no change is pending.

        An operator who changes voters while a disk is lost, or loses one while voters change, can lose the quorum for
        good: the simulation leaves that out.
        """
        parts = [quorum_of(node) for node in self._cluster.nodes.values()]
        roles = [part.core.role for part in parts if part is not None]
        if any(isinstance(role, Leader) and role.changes.is_any_pending for role in roles):
            return None
        sets = [part.core.voters for part in parts if part is not None]
        return sets[0] if len(sets) == len(parts) and all(voters == sets[0] for voters in sets) else None

    def _jump_clock(self) -> None:
        node = self._any_node()
        node.note("clock jumps")
        node.clock.jump(self._random.choice((100, 2000, 10_000)))

    def _resign(self) -> None:
        leader = self._leader()
        if leader is not None:
            epoch = leader.core.role.epoch
            leader.node.note("asked to resign")
            leader.node.act(lambda: leader.handle(ResignRequested(epoch)))

    def _shut_down(self) -> None:
        running = self._running()
        if running:
            node = self._random.choice(running)
            node.note("asked to shut down")
            node.act(lambda: raft_part(node).handle(ShutdownRequested(timeout_ms=3000)))

    def _add_voter(self) -> None:
        leader = self._leader()
        node_id = self._random.randint(1, self._cluster.scenario.voters + self._cluster.scenario.spares)
        # One that stands still would come to it when the disk is perhaps another.
        if leader is None or leader.node.is_paused:
            return
        node = self._cluster.nodes[node_id]
        leader.node.note(f"asked to add voter {node_id}")
        listener = add_raft_voter.Listener(name="CONTROLLER", host=node.host, port=9093)
        request = add_raft_voter.AddRaftVoterRequest(
            cluster_id=CLUSTER_ID,
            timeout_ms=1000,
            voter_id=node_id,
            voter_directory_id=node.disk.directory_id,
            listeners=[listener],
        )
        leader.node.act(lambda: leader.administer(request))

    def _remove_voter(self) -> None:
        leader = self._leader()
        # Fewer voters than two would leave the next fault nothing to break.
        if leader is None or leader.node.is_paused or len(leader.core.voters) < 3:
            return
        lost = [key for key in leader.core.voters.keys if not self._cluster.is_current(key)]
        key = self._random.choice(lost or leader.core.voters.keys)
        leader.node.note(f"asked to remove voter {key}")
        request = remove_raft_voter.RemoveRaftVoterRequest(
            cluster_id=CLUSTER_ID, voter_id=key.id, voter_directory_id=key.directory_id
        )
        leader.node.act(lambda: leader.administer(request))

    def _upgrade_kraft_version(self) -> None:
        leader = self._leader()
        if leader is None:
            return
        role = leader.core.role

        def upgrade() -> None:
            if isinstance(role, Leader):
                leader.node.note("asked to raise kraft.version to 1")
                try:
                    leader.core.upgrade_kraft_version(role.epoch, 1, leader.node.clock.now_ms())
                except ApiError as error:
                    leader.node.note(f"refused: {error}")

        leader.node.act(upgrade)
