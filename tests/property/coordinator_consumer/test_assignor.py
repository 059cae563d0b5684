"""Assignors: everything is assigned once, to those who want it, evenly, and little moves."""

from hypothesis import given
from hypothesis import strategies as st

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import Assignment, GroupSpec, MemberSpec
from ottla.coordinator.group.consumer.assignment.target import ASSIGNORS

TOPICS = [Uuid(number.to_bytes(16, "big")) for number in range(1, 5)]
counts_strategy = st.fixed_dictionaries({topic: st.integers(0, 12) for topic in TOPICS})
wants_strategy = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=2), st.frozensets(st.sampled_from(TOPICS)), min_size=1, max_size=8
)
assignor_strategy = st.sampled_from(sorted(ASSIGNORS))


def spec(
    wants: dict[str, frozenset[Uuid]], counts: dict[Uuid, int], before: dict[str, Assignment] | None = None
) -> GroupSpec:
    had = before or {}
    return GroupSpec({name: MemberSpec(topics, had.get(name, {})) for name, topics in wants.items()}, counts)


def places(assigned: Assignment) -> set[tuple[Uuid, int]]:
    return {(topic, partition) for topic, partitions in assigned.items() for partition in partitions}


def sizes(assigned: dict[str, Assignment]) -> dict[str, int]:
    return {name: len(places(assignment)) for name, assignment in assigned.items()}


@given(wants_strategy, counts_strategy, assignor_strategy)
def test_every_wanted_partition_has_one_owner_that_wants_it(
    wants: dict[str, frozenset[Uuid]], counts: dict[Uuid, int], name: str
) -> None:
    assigned = ASSIGNORS[name].assign(spec(wants, counts))
    assert set(assigned) == set(wants)
    owned = [(member, place) for member, assignment in assigned.items() for place in places(assignment)]
    assert all(topic in wants[member] for member, (topic, _) in owned)
    wanted = {topic for topics in wants.values() for topic in topics}
    assert sorted(place for _, place in owned) == sorted(
        (topic, partition) for topic in wanted for partition in range(counts[topic])
    )
    assert all(partitions for assignment in assigned.values() for partitions in assignment.values())


@given(st.integers(1, 9), counts_strategy, st.frozensets(st.sampled_from(TOPICS)))
def test_uniform_is_even_and_moves_no_more_than_it_must(
    size: int, counts: dict[Uuid, int], topics: frozenset[Uuid]
) -> None:
    uniform = ASSIGNORS["uniform"]
    before = uniform.assign(spec({f"m{place}": topics for place in range(size)}, counts))
    assert max(sizes(before).values()) - min(sizes(before).values()) <= 1
    total = sum(counts[topic] for topic in topics)

    same = uniform.assign(spec({f"m{place}": topics for place in range(size)}, counts, before))
    assert same == before

    grown = uniform.assign(spec({f"m{place}": topics for place in range(size + 1)}, counts, before))
    assert max(sizes(grown).values()) - min(sizes(grown).values()) <= 1
    for name, assignment in before.items():
        assert places(grown[name]) <= places(assignment), "members that stay are given nothing"
    assert len(places(grown[f"m{size}"])) <= -(-total // (size + 1))

    if size > 1:
        shrunk = uniform.assign(spec({f"m{place}": topics for place in range(1, size)}, counts, before))
        assert max(sizes(shrunk).values()) - min(sizes(shrunk).values()) <= 1
        for name, assignment in shrunk.items():
            assert places(before[name]) <= places(assignment), "members that stay lose nothing"


@given(wants_strategy, wants_strategy, counts_strategy)
def test_uniform_levels_different_wants(
    wants: dict[str, frozenset[Uuid]], later: dict[str, frozenset[Uuid]], counts: dict[Uuid, int]
) -> None:
    uniform = ASSIGNORS["uniform"]
    before = uniform.assign(spec(wants, counts))
    after = uniform.assign(spec(later, counts, before))
    for assigned, wanted in ((before, wants), (after, later)):
        size = sizes(assigned)
        for rich, assignment in assigned.items():
            for topic in assignment:
                for poor in wanted:
                    if topic in wanted[poor]:
                        assert size[rich] - size[poor] <= 1, "a partition could have moved"
    assert uniform.assign(spec(later, counts, after)) == after, "what is level stays"


@given(st.integers(1, 9), counts_strategy, st.frozensets(st.sampled_from(TOPICS)))
def test_range_gives_the_same_partitions_of_topics_of_one_size(
    size: int, counts: dict[Uuid, int], topics: frozenset[Uuid]
) -> None:
    assigned = ASSIGNORS["range"].assign(spec({f"m{place}": topics for place in range(size)}, counts))
    for assignment in assigned.values():
        for topic, partitions in assignment.items():
            assert sorted(partitions) == list(range(min(partitions), max(partitions) + 1))
            for other in topics:
                if counts[other] == counts[topic]:
                    assert assignment[other] == partitions
