"""Assignors, by example."""

from ottla.base.ids import Uuid
from ottla.coordinator.group.assignors.group_spec import GroupSpec, MemberSpec
from ottla.coordinator.group.assignors.range import RangeAssignor
from ottla.coordinator.group.assignors.uniform import UniformAssignor

T, U = Uuid(b"t" * 16), Uuid(b"u" * 16)


def test_range_puts_static_members_first_in_the_order_of_their_instances() -> None:
    members = {
        "a": MemberSpec(frozenset({T, U}), {}),
        "b": MemberSpec(frozenset({T, U}), {}, "2"),
        "c": MemberSpec(frozenset({T}), {}, "1"),
    }
    assert RangeAssignor().assign(GroupSpec(members, {T: 5, U: 3})) == {
        "c": {T: frozenset({0, 1})},
        "b": {T: frozenset({2, 3}), U: frozenset({0, 1})},
        "a": {T: frozenset({4}), U: frozenset({2})},
    }


def test_uniform_keeps_what_members_have() -> None:
    members = {
        "a": MemberSpec(frozenset({T}), {T: frozenset({5, 6, 7})}),
        "b": MemberSpec(frozenset({T}), {T: frozenset({0, 1, 2, 3, 4})}),
        "c": MemberSpec(frozenset({T}), {}),
    }
    assert UniformAssignor().assign(GroupSpec(members, {T: 8})) == {
        "a": {T: frozenset({5, 6, 7})},
        "b": {T: frozenset({0, 1, 2})},
        "c": {T: frozenset({3, 4})},
    }


def test_uniform_with_different_wants() -> None:
    members = {
        "a": MemberSpec(frozenset({T, U}), {}),
        "b": MemberSpec(frozenset({U}), {}),
    }
    assert UniformAssignor().assign(GroupSpec(members, {T: 2, U: 4})) == {
        "a": {T: frozenset({0, 1}), U: frozenset({2})},
        "b": {U: frozenset({0, 1, 3})},
    }


def test_a_topic_without_partitions_and_a_group_without_members() -> None:
    assert UniformAssignor().assign(GroupSpec({"a": MemberSpec(frozenset({T}), {})}, {T: 0})) == {"a": {}}
    assert UniformAssignor().assign(GroupSpec({}, {})) == {}
