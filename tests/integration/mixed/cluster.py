"""A mixed cluster: three controllers, brokers, and who leads the quorum by whose will."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ottla.base.ids import Uuid
from ottla.protocol.errors import DecodeError
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from tests.integration.mixed.member import CLUSTER_ID, Kind, Member, Quorum, Role, Voters
from tests.kafka.wire import Wire

PATIENCE_S = 60.0
_METADATA = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData(partition_index=0)])


class MixedCluster:
    """Controllers and brokers by node id."""

    def __init__(
        self, directory: Path, controllers: Mapping[int, Kind], brokers: Mapping[int, Kind], voters: Voters
    ) -> None:
        self.quorum = Quorum(voters)
        self._directory = directory
        self.controllers: dict[int, Member] = {}
        for node_id, kind in controllers.items():
            self._make_controller(node_id, kind)
        self.brokers = {
            node_id: Member(directory / f"broker-{node_id}", node_id, kind, Role.BROKER, self.quorum)
            for node_id, kind in brokers.items()
        }
        if voters is Voters.DYNAMIC:
            self.quorum.directory_ids = {node_id: Uuid(b"directory-%06d" % node_id) for node_id in controllers}

    def _make_controller(self, node_id: int, kind: Kind) -> Member:
        directory = self._directory / f"controller-{node_id}"
        self.controllers[node_id] = Member(directory, node_id, kind, Role.CONTROLLER, self.quorum)
        return self.controllers[node_id]

    def add_controller(self, node_id: int, kind: Kind) -> Member:
        """One more controller, formatted to join; not started yet, and no voter."""
        member = self._make_controller(node_id, kind)
        member.configure()
        member.format(CLUSTER_ID)
        return member

    def start(self, **settings: str) -> None:
        """Formats and starts all of them; the settings are everybody's."""
        members = [*self.controllers.values(), *self.brokers.values()]
        for member in members:
            member.configure(**settings)
            member.format(CLUSTER_ID)
        for member in members:
            member.launch()
        for member in members:
            member.wait_until_ready()

    def kill(self) -> None:
        """Ends all of them at one moment: none goes on with those that are left."""
        members = (*self.controllers.values(), *self.brokers.values())
        for member in members:
            if member.is_running:
                member.freeze()
        for member in members:
            member.kill()

    @property
    def bootstrap(self) -> str:
        """What clients connect to."""
        return ",".join(broker.bootstrap for broker in self.brokers.values())

    def output(self) -> str:
        """What all of them said last."""
        members = (*self.controllers.values(), *self.brokers.values())
        return "\n".join(f"--- {member.name}:\n{member.output()}" for member in members)

    def described(self) -> Any:
        """The quorum as its leader describes it; None while nobody does."""
        return max(self._descriptions(), key=lambda found: found.leader_epoch, default=None)

    def _descriptions(self) -> Iterator[Any]:
        for controller in self.controllers.values():
            if controller.is_running and (found := describe(controller)) is not None:
                yield found

    def leader(self) -> Member:
        """Who leads, once somebody does."""
        return self.controllers[self.until(self.described).leader_id]

    def until(self, look: Callable[[], Any]) -> Any:
        """What is seen once there is something to be seen."""
        deadline = time.monotonic() + PATIENCE_S
        while not (seen := look()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{seen!r} for {PATIENCE_S} s\n{self.described()}\n{self.output()}")
            time.sleep(0.05)
        return seen

    def until_caught_up(self, *node_ids: int) -> None:
        """Returns once these controllers, or all that run, hold what the leader holds now."""
        wanted = set(node_ids) or {node_id for node_id, member in self.controllers.items() if member.is_running}
        end = end_offset(self.until(self.described))

        def is_caught_up() -> bool:
            found = self.described()
            if found is None:
                return False
            states = (*found.current_voters, *found.observers)
            return wanted <= {state.replica_id for state in states if state.log_end_offset >= end}

        self.until(is_caught_up)

    def wipe(self, controller: Member) -> None:
        """The controller loses its disk, and comes back with a new, empty one."""
        controller.kill()
        shutil.rmtree(controller.log_directory)
        controller.format(CLUSTER_ID)
        controller.launch()
        controller.wait_until_ready()

    def make_lead(self, wanted: Member, write: Callable[[], None]) -> None:
        """Has one of the three lead: the only one that can, as of the two which run it alone has what was written."""
        leader = self.leader()
        if leader is wanted:
            return
        [third] = [member for member in self.controllers.values() if member not in (leader, wanted)]
        third.kill()
        write()
        self.until_caught_up(wanted.node_id)
        leader.kill()
        third.launch()
        self.until(lambda: (found := self.described()) is not None and found.leader_id == wanted.node_id)
        leader.launch()
        self.until_caught_up()


def describe(controller: Member) -> Any:
    """The quorum as this controller describes it; None unless it leads."""
    try:
        with Wire(controller.address, timeout=5) as wire:
            answer: Any = wire.ask(DescribeQuorumRequest(topics=[_METADATA]), 2)
    except (OSError, DecodeError):
        return None
    if answer.error_code or not answer.topics:
        return None
    [partition] = answer.topics[0].partitions
    return None if partition.error_code or partition.leader_id != controller.node_id else partition


def end_offset(description: Any) -> int:
    """The end of the longest log of a voter: the leader's."""
    return max(int(state.log_end_offset) for state in description.current_voters)
