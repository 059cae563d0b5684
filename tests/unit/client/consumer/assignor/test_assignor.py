import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from ottla.client.consumer.assignor.assignor_table import AssignorMismatchError, built_in, protocol_of
from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, RebalanceProtocol, Shares, TopicRacks
from ottla.client.consumer.assignor.sticky import CooperativeStickyAssignor, StickyAssignor
from ottla.client.consumer.assignor.subscription import MemberAssignment, MemberSubscription
from ottla.client.consumer.group.classic.leader import AssignorError, compute
from ottla.client.record import TopicPartition
from tests.property.client_assignor import example

_VECTORS = [json.loads(line) for line in Path(__file__).with_name("java_vectors.jsonl").read_text().splitlines()]
NO_RACKS = frozenset[str]()


def topic(partitions: int) -> list[frozenset[str]]:
    return [NO_RACKS] * partitions


def shown(assigned: Mapping[str, MemberAssignment]) -> dict[str, str]:
    return {member: " ".join(map(str, assignment.partitions)) for member, assignment in assigned.items()}


@pytest.mark.parametrize("number", range(len(_VECTORS)))
def test_assignments_are_those_that_java_was_seen_to_make(number: int) -> None:
    vector = _VECTORS[number]
    assert example.solve(vector["example"]) == vector["answer"]


def test_range_cuts_each_topic() -> None:
    members = {"C1": MemberSubscription(("t0", "t1")), "C0": MemberSubscription(("t0", "t1"))}
    assigned = built_in("range").assign({"t0": topic(3), "t1": topic(3)}, members)
    assert {member: set(share.split()) for member, share in shown(assigned).items()} == {
        "C0": {"t0-0", "t0-1", "t1-0", "t1-1"},
        "C1": {"t0-2", "t1-2"},
    }


def test_round_robin_deals_in_turn() -> None:
    members = {"C0": MemberSubscription(("t0", "t1")), "C1": MemberSubscription(("t0", "t1"))}
    assigned = built_in("roundrobin").assign({"t0": topic(3), "t1": topic(3)}, members)
    assert shown(assigned) == {"C0": "t0-0 t0-2 t1-1", "C1": "t0-1 t1-0 t1-2"}


def test_static_members_keep_their_place_under_new_member_ids() -> None:
    before = {
        "a": MemberSubscription(("t",), group_instance_id="i1"),
        "b": MemberSubscription(("t",), group_instance_id="i2"),
    }
    after = {"z": before["a"], "b": before["b"]}
    first = shown(built_in("range").assign({"t": topic(4)}, before))
    second = shown(built_in("range").assign({"t": topic(4)}, after))
    assert second == {"z": first["a"], "b": first["b"]}


def test_range_prefers_replicas_in_the_members_rack() -> None:
    racks = [frozenset({"b"}), frozenset({"a"})]
    members = {"C0": MemberSubscription(("t",), rack_id="a"), "C1": MemberSubscription(("t",), rack_id="b")}
    assert shown(built_in("range").assign({"t": racks}, members)) == {"C0": "t-1", "C1": "t-0"}


def test_a_sticky_member_tells_what_it_had_and_keeps_it() -> None:
    one, two = StickyAssignor(), StickyAssignor()
    assert one.subscription_user_data(["t"]) is None
    mine = MemberAssignment((TopicPartition("t", 3), TopicPartition("t", 0)))
    one.on_assignment(mine, generation_id=5)
    two.on_assignment(MemberAssignment((TopicPartition("t", 1), TopicPartition("t", 2))), generation_id=5)
    members = {
        name: MemberSubscription(("t",), assignor.subscription_user_data(["t"]))
        for name, assignor in {"A": one, "B": two, "C": StickyAssignor()}.items()
    }
    shares = one.share({"t": topic(6)}, members)
    assert {TopicPartition("t", 3), TopicPartition("t", 0)} == set(shares["A"])
    assert {TopicPartition("t", 4), TopicPartition("t", 5)} == set(shares["C"])


def test_a_cooperative_assignment_leaves_out_what_another_still_has() -> None:
    owned = tuple(TopicPartition("t", number) for number in range(4))
    members = {
        "A": MemberSubscription(("t",), owned_partitions=owned, generation_id=1),
        "B": MemberSubscription(("t",)),
    }
    assigned = CooperativeStickyAssignor().assign({"t": topic(4)}, members)
    assert shown(assigned) == {"A": "t-0 t-1", "B": ""}
    second = {
        "A": MemberSubscription(("t",), owned_partitions=owned[:2], generation_id=2),
        "B": MemberSubscription(("t",), generation_id=2),
    }
    assert shown(CooperativeStickyAssignor().assign({"t": topic(4)}, second)) == {"A": "t-0 t-1", "B": "t-2 t-3"}


def test_a_claim_from_an_older_generation_loses() -> None:
    owned = (TopicPartition("t", 0),)
    members = {
        "A": MemberSubscription(("t",), owned_partitions=owned, generation_id=4),
        "B": MemberSubscription(("t",), owned_partitions=owned, generation_id=5),
    }
    assert shown(CooperativeStickyAssignor().assign({"t": topic(1)}, members)) == {"A": "", "B": "t-0"}


def test_partitions_that_do_not_exist_any_more_are_not_assigned() -> None:
    owned = (TopicPartition("t", 0), TopicPartition("t", 9), TopicPartition("gone", 0))
    members = {"A": MemberSubscription(("t", "gone"), owned_partitions=owned, generation_id=1)}
    assert shown(CooperativeStickyAssignor().assign({"t": topic(1)}, members)) == {"A": "t-0"}


def test_large_unequal_groups_are_assigned_in_reasonable_steps() -> None:
    topics = {f"t{number}": topic(20) for number in range(20)}
    members = {
        f"m{number:03d}": MemberSubscription(tuple(f"t{(number + step) % 20}" for step in range(number % 7 + 1)))
        for number in range(80)
    }
    assigned = StickyAssignor().assign(topics, members)
    assert sum(len(assignment.partitions) for assignment in assigned.values()) == 400


def test_names_and_protocols() -> None:
    assert built_in("org.apache.kafka.clients.consumer.StickyAssignor").name == "sticky"
    with pytest.raises(AssignorMismatchError, match="cooperative-sticky"):
        built_in("best")
    assert protocol_of([built_in("cooperative-sticky")]) is RebalanceProtocol.COOPERATIVE
    assert protocol_of([built_in("range"), built_in("cooperative-sticky")]) is RebalanceProtocol.EAGER
    with pytest.raises(AssignorMismatchError, match="two assignors"):
        protocol_of([built_in("range"), built_in("range")])


class Greedy(PartitionAssignor):
    """Gives everything to the last member, whoever has it."""

    name = "greedy"
    protocols = (RebalanceProtocol.COOPERATIVE,)

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        every = [TopicPartition(name, number) for name, racks in topics.items() for number in range(len(racks))]
        return {max(members): every}


def test_a_custom_cooperative_assignor_may_not_take_from_one_and_give_to_another_at_once() -> None:
    members = {
        "A": MemberSubscription(("t",), owned_partitions=(TopicPartition("t", 0),)),
        "B": MemberSubscription(("t",)),
    }
    with pytest.raises(AssignorError, match="t-0"):
        compute(Greedy(), RebalanceProtocol.COOPERATIVE, {"t": topic(1)}, members)
    assert set(compute(Greedy(), RebalanceProtocol.EAGER, {"t": topic(1)}, members)) == {"A", "B"}
