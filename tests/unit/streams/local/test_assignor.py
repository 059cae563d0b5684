"""What processes tell each other in a rebalance: one may have all of them end."""

from ottla.client.consumer.assignor.subscription import MemberAssignment, MemberSubscription
from ottla.streams import Consumed, Materialized, Serdes, StreamsBuilder
from ottla.streams.host.application import Application
from ottla.streams.local.assignor import MemberFacts, StreamsAssignor


def assignor() -> StreamsAssignor:
    builder = StreamsBuilder()
    builder.table("in", Consumed.with_(Serdes.string(), Serdes.string()), Materialized.as_("rows"))
    return StreamsAssignor(Application.planned(builder.build(), {"application.id": "app"}, {"in": 2}), 0)


def assigned(**members: MemberFacts) -> dict[str, MemberAssignment]:
    subscriptions = {name: MemberSubscription(("in",), facts.encoded()) for name, facts in members.items()}
    return assignor().assign({"in": [frozenset(), frozenset()]}, subscriptions)


def test_one_that_is_told_to_end_does_not_forget_it_in_the_next_rebalance() -> None:
    """The one that asked has left meanwhile."""
    other = assignor()
    other.on_assignment(assigned(a=MemberFacts("1", wants_shutdown=True), b=MemberFacts("2"))["b"], 1)
    assert other.task_map.is_shutdown
    other.on_assignment(assigned(b=MemberFacts("2"))["b"], 2)
    assert other.task_map.is_shutdown


def test_the_one_that_asks_knows_when_all_others_have_gone() -> None:
    asking, facts = assignor(), MemberFacts("1", wants_shutdown=True)
    asking.on_assignment(assigned(a=facts, b=MemberFacts("2"))["a"], 1)
    assert not asking.is_alone_in_shutdown
    asking.on_assignment(assigned(a=facts)["a"], 2)
    assert asking.is_alone_in_shutdown


def test_a_topic_that_the_leader_does_not_know_may_be_there_in_a_moment() -> None:
    """Other partitions than planned are something else: state would not fit."""
    found = {}
    for count in (0, 1, 2):
        told = assignor().assign({"in": [frozenset()] * count}, {"a": MemberSubscription(("in",), b"")})
        member = assignor()
        member.on_assignment(told["a"], 1)
        found[count] = (member.task_map.complaint, member.task_map.may_pass)
    planned = "and the application was planned for 2"
    assert found == {
        0: (f"the topic in is not there, {planned}", True),
        1: (f"the topic in has 1 partitions, {planned}", False),
        2: ("", False),
    }
