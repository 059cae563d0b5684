"""Memberships on a real server: who gets what when members come, go, fall silent, and come back.

The members are in this process and read no records; `test_group_process` has whole consumers in processes of their own.
"""

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from ottla.client.consumer.assignor.partition_assignor import PartitionAssignor, Shares, TopicRacks
from ottla.client.consumer.assignor.subscription import MemberSubscription
from ottla.client.consumer.membership import LeaveOperation
from ottla.client.consumer.subscription_pattern import SubscriptionPattern
from ottla.client.record import TopicPartition
from ottla.protocol.errors import (
    FencedInstanceIdError,
    IllegalGenerationError,
    InconsistentGroupProtocolError,
    UnreleasedInstanceIdError,
    UnsupportedAssignorError,
)
from tests.clients.server import kinds, start_server
from tests.clients.topic import create
from tests.integration.client.group_member import GroupMember, until
from tests.kafka.server import Server

CLASSIC = ("range", "roundrobin", "sticky", "cooperative-sticky")
PROTOCOLS = (*CLASSIC, "consumer")
QUICK_GROUPS = {
    "group_initial_rebalance_delay_ms": "0",
    "group_min_session_timeout_ms": "500",
    "group_consumer_min_heartbeat_interval_ms": "200",
    "group_consumer_heartbeat_interval_ms": "200",
    "group_consumer_min_session_timeout_ms": "500",
    "group_consumer_session_timeout_ms": "6000",
    "group_consumer_assignment_interval_ms": "0",
}
_numbers = itertools.count(1)


@pytest.fixture(scope="module", params=kinds())
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = start_server(request.param, tmp_path_factory.mktemp(request.param), **QUICK_GROUPS)
    yield started
    started.stop()


@pytest.fixture
def topic(server: Server) -> str:
    """Six partitions."""
    name = f"topic-{next(_numbers)}"
    create(server, name, 6)
    return name


@pytest.fixture
def group() -> str:
    return f"group-{next(_numbers)}"


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 90))


def by(protocol: str) -> dict[str, object]:
    if protocol == "consumer":
        return {"group_protocol": "consumer"}
    return {"partition_assignment_strategy": protocol}


def all_of(topic: str, count: int = 6) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(topic, number) for number in range(count))


def share(*members: GroupMember) -> list[int]:
    """How many partitions each has; nothing as long as two have the same one."""
    owned = [partition for member in members for partition in member.owned]
    return [len(member.owned) for member in members] if len(set(owned)) == len(owned) else []


@asynccontextmanager
async def two_members(
    server: Server, topic: str, group: str, **settings: object
) -> AsyncIterator[tuple[GroupMember, GroupMember]]:
    async with GroupMember(server.bootstrap, group, **settings) as one:
        one.subscribe([topic])
        await until(lambda: len(one.owned) == 6)
        async with GroupMember(server.bootstrap, group, **settings) as two:
            two.subscribe([topic])
            await until(lambda: share(one, two) == [3, 3] and settled(one, two))
            yield one, two


def settled(*members: GroupMember) -> bool:
    return not any(member.membership.needs_attention for member in members)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_members_share_and_take_over(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        async with two_members(server, topic, group, **by(protocol)) as (one, two):
            assert one.owned | two.owned == all_of(topic)
            await two.close()
            await until(lambda: one.owned == all_of(topic))

    run(test())


def test_eager_members_give_up_everything(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with two_members(server, topic, group, **by("range")) as (one, two):
            low, high = all_of(topic, 3), all_of(topic) - all_of(topic, 3)
            assert {one.owned, two.owned} == {low, high}
            assert one.told == [("assigned", all_of(topic)), ("revoked", all_of(topic)), ("assigned", one.owned)]
            assert two.told == [("assigned", two.owned)]

    run(test())


@pytest.mark.parametrize("protocol", ["cooperative-sticky", "consumer"])
def test_cooperative_members_give_up_only_what_moves(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        async with two_members(server, topic, group, **by(protocol)) as (one, two):
            given_up = frozenset().union(*(partitions for how, partitions in one.told if how != "assigned"))
            assert given_up == two.owned
            assert [how for how, _ in one.told].count("revoked") == 1
            assert not any(how == "lost" for how, _ in one.told + two.told)

    run(test())


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky", "consumer"])
def test_a_static_member_comes_back_unnoticed(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        settings = by(protocol)
        async with GroupMember(server.bootstrap, group, group_instance_id="i-1", **settings) as one:
            one.subscribe([topic])
            await until(lambda: len(one.owned) == 6)
            static = GroupMember(server.bootstrap, group, group_instance_id="i-2", **settings)
            async with static:
                static.subscribe([topic])
                await until(lambda: share(one, static) == [3, 3] and settled(one, static))
                had, told = static.owned, list(one.told)
                id_before = static.membership.metadata().member_id
            async with GroupMember(server.bootstrap, group, group_instance_id="i-2", **settings) as again:
                again.subscribe([topic])
                await until(lambda: again.owned == had and settled(again))
                assert again.membership.metadata().member_id != id_before
                await asyncio.sleep(0.7)
                assert one.told == told

    run(test())


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_a_static_member_can_leave_for_good(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        settings = by(protocol)
        async with (
            GroupMember(server.bootstrap, group, **settings) as one,
            GroupMember(server.bootstrap, group, group_instance_id="i", **settings) as static,
        ):
            one.subscribe([topic])
            static.subscribe([topic])
            await until(lambda: share(one, static) == [3, 3])
            await static.close(LeaveOperation.LEAVE_GROUP)
            await until(lambda: len(one.owned) == 6)

    run(test())


def test_a_second_process_with_the_same_instance_id_fences_the_first(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with (
            GroupMember(server.bootstrap, group, group_instance_id="i") as one,
            GroupMember(server.bootstrap, group, group_instance_id="i") as two,
        ):
            one.subscribe([topic])
            await until(lambda: len(one.owned) == 6)
            two.subscribe([topic])
            await until(lambda: len(two.owned) == 6)
            await until(lambda: one.membership.needs_attention)
            for _ in range(2):
                with pytest.raises(FencedInstanceIdError):
                    await one.membership.ensure_active(asyncio.get_running_loop().time() + 10)

    run(test())


def test_an_instance_id_in_use_is_refused_by_consumer_groups(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        settings = {"group_instance_id": "i", **by("consumer")}
        async with (
            GroupMember(server.bootstrap, group, **settings) as one,
            GroupMember(server.bootstrap, group, **settings) as two,
        ):
            one.subscribe([topic])
            await until(lambda: len(one.owned) == 6)
            two.subscribe([topic])
            with pytest.raises(UnreleasedInstanceIdError):
                await two.membership.ensure_active(asyncio.get_running_loop().time() + 10)

    run(test())


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_who_does_not_poll_is_out_until_they_do(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        async with two_members(server, topic, group, max_poll_interval_ms=2_000, **by(protocol)) as (one, two):
            had = two.owned
            two.polls = False
            await until(lambda: len(one.owned) == 6)
            assert two.membership.metadata().generation_id < 0
            two.told.clear()
            two.polls = True
            await until(lambda: share(one, two) == [3, 3])
            assert two.told[0] == ("lost", had)

    run(test())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_new_partitions_are_shared_out(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        quick = {"metadata_max_age_ms": 300}
        async with two_members(server, topic, group, **quick, **by(protocol)) as (one, two):
            admin = AdminClient({"bootstrap.servers": server.bootstrap})
            await asyncio.to_thread(admin.create_partitions([NewPartitions(topic, 8)])[topic].result)
            await until(lambda: one.owned | two.owned == all_of(topic, 8) and share(one, two) == [4, 4])

    run(test())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_changed_subscription_is_heard(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        other = f"{topic}-other"
        await asyncio.to_thread(create, server, other, 2)
        async with two_members(server, topic, group, **by(protocol)) as (one, two):
            two.subscribe([other])
            await until(lambda: one.owned == all_of(topic) and two.owned == all_of(other, 2))

    run(test())


def test_an_enforced_rebalance(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with two_members(server, topic, group) as (one, _):
            generation = one.membership.metadata().generation_id
            one.membership.enforce_rebalance("the weather has changed")
            await until(lambda: one.membership.metadata().generation_id > generation and settled(one))

    run(test())


class FirstTakesAll(PartitionAssignor):
    """As an application may write it: the member whose id sorts first reads everything."""

    name = "first-takes-all"

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        every = [TopicPartition(name, number) for name, racks in topics.items() for number in range(len(racks))]
        return {min(members): every}


def test_an_assignor_of_the_users(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        settings: dict[str, object] = {"partition_assignment_strategy": [FirstTakesAll]}
        async with (
            GroupMember(server.bootstrap, group, client_id="a", **settings) as one,
            GroupMember(server.bootstrap, group, client_id="b", **settings) as two,
        ):
            one.subscribe([topic])
            two.subscribe([topic])
            await until(lambda: share(one, two) == [6, 0] and settled(one, two))

    run(test())


class Broken(PartitionAssignor):
    """As an application may also write it."""

    name = "broken"

    def share(self, topics: TopicRacks, members: Mapping[str, MemberSubscription]) -> Shares:
        raise ZeroDivisionError("not today")


def test_an_assignor_that_raises_is_the_users_to_see(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with GroupMember(server.bootstrap, group, partition_assignment_strategy=[Broken()]) as member:
            member.subscribe([topic])
            with pytest.raises(Exception, match="not today") as raised:
                await member.membership.ensure_active(asyncio.get_running_loop().time() + 10)
            assert isinstance(raised.value.__cause__, ZeroDivisionError)

    run(test())


def test_members_without_an_assignor_in_common_are_refused(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with (
            GroupMember(server.bootstrap, group, **by("range")) as one,
            GroupMember(server.bootstrap, group, **by("sticky")) as two,
        ):
            one.subscribe([topic])
            await until(lambda: len(one.owned) == 6)
            two.subscribe([topic])
            with pytest.raises(InconsistentGroupProtocolError):
                await two.membership.ensure_active(asyncio.get_running_loop().time() + 10)

    run(test())


def test_an_assignor_that_the_broker_lacks(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with GroupMember(server.bootstrap, group, group_remote_assignor="best", **by("consumer")) as member:
            member.subscribe([topic])
            with pytest.raises(UnsupportedAssignorError):
                await member.membership.ensure_active(asyncio.get_running_loop().time() + 10)

    run(test())


def test_a_pattern_that_the_broker_matches(server: Server, topic: str, group: str) -> None:
    async def test() -> None:
        async with GroupMember(server.bootstrap, group, **by("consumer")) as member:
            member.subscription.subscribe_pattern(SubscriptionPattern(f"{re.escape(topic)}.*"), None)
            member.membership.start()
            await until(lambda: member.owned == all_of(topic))

    run(test())


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_a_member_that_left_can_come_back(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        async with GroupMember(server.bootstrap, group, **by(protocol)) as member:
            for _ in range(2):
                member.subscribe([topic])
                await until(lambda: member.owned == all_of(topic) and settled(member))
                member.subscription.unsubscribe()
                await member.membership.leave(asyncio.get_running_loop().time() + 10, LeaveOperation.DEFAULT)

    run(test())


def kill_and_start(server: Server) -> None:
    server.kill()
    server.start()


@pytest.mark.parametrize("protocol", ["range", "cooperative-sticky", "consumer"])
def test_members_survive_the_coordinators_death(server: Server, topic: str, group: str, protocol: str) -> None:
    async def test() -> None:
        async with two_members(server, topic, group, **by(protocol)) as (one, two):
            await asyncio.to_thread(kill_and_start, server)
            await asyncio.sleep(1)
            await until(lambda: settled(one, two) and share(one, two) == [3, 3])
            async with GroupMember(server.bootstrap, group, **by(protocol)) as three:
                three.subscribe([topic])
                await until(lambda: share(one, two, three) == [2, 2, 2])
            assert not any(how == "lost" for how, _ in one.told + two.told)

    run(test())


@pytest.mark.parametrize("protocol", ["range", "consumer"])
def test_a_refused_commit_costs_a_healthy_member_nothing(server: Server, topic: str, group: str, protocol: str) -> None:
    """The refusal may be about who we were: only a heartbeat tells who we are."""

    async def test() -> None:
        async with GroupMember(server.bootstrap, group, **by(protocol)) as member:
            member.subscribe([topic])
            await until(lambda: member.owned == all_of(topic) and settled(member))
            member.membership.rejoin_needed(IllegalGenerationError())
            assert await member.membership.refresh_epoch()
            assert member.told == [("assigned", all_of(topic))]

    run(test())
