"""A sole voter on an event loop: leads at once, writes, survives a restart, and stops when its disk does."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest

from ottla.broker.quorum.quorum_network import Done
from ottla.protocol.definition import Request
from ottla.protocol.errors import ErrorCode, NotControllerError
from ottla.protocol.messages.describe_quorum import DescribeQuorumRequest, RequestPartitionData, RequestTopicData
from ottla.protocol.messages.fetch import FetchResponse
from ottla.protocol.messages.vote import VoteRequest, VoteResponse
from ottla.raft.event import ResignRequested
from ottla.raft.roles.leader import Leader
from ottla.storage.disk.simulated import Fault, SimulatedDisk
from tests.unit.broker.quorum.rig import Replica, config, formatted_disk, quota, until


def run(scenario: Callable[[SimulatedDisk], Awaitable[None]]) -> None:
    asyncio.run(_run(scenario))


async def _run(scenario: Callable[[SimulatedDisk], Awaitable[None]]) -> None:
    await scenario(formatted_disk(config()))


def test_a_sole_voter_leads_and_answers_once_committed() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        await replica.ask(quota("ann", "bob"))
        image = replica.member.metadata.image
        assert len(image.client_quotas) == 2
        assert image.provenance.offset + 1 == replica.member.core.high_watermark
        await replica.member.stop(1000)
        assert replica.failures == []

    run(scenario)


def test_what_was_answered_survives_a_power_cut() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        for number in range(20):
            await replica.ask(quota(f"user{number}"))
        disk.crash(Random(1))
        await replica.member.raft.close()

        again = Replica(disk, config())
        await until(lambda: again.driver.is_active)
        assert len(again.member.metadata.image.client_quotas) == 20
        await again.member.stop(1000)

    run(scenario)


def test_requests_in_one_turn_share_a_batch() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        before = replica.member.store.log.size_bytes
        await asyncio.gather(*(replica.ask(quota(f"user{number}")) for number in range(50)))
        together = replica.member.store.log.size_bytes - before
        for number in range(50):
            await replica.ask(quota(f"user{number}", rate=2.0))
        # One batch header instead of fifty.
        assert replica.member.store.log.size_bytes - before - together > together + 40 * 61
        await replica.member.stop(1000)

    run(scenario)


def test_a_resigned_replica_renounces_at_once_and_leads_again() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config(controller_quorum_election_timeout_ms="50"))
        await until(lambda: replica.driver.is_active)
        epoch = replica.member.core.leader.epoch
        replica.member.raft.handle(ResignRequested(epoch))
        assert not replica.driver.is_active
        with pytest.raises(NotControllerError):
            await replica.ask(quota("ann"))
        await until(lambda: replica.driver.is_active)
        assert replica.member.core.leader.epoch > epoch
        await replica.ask(quota("ann"))
        await replica.member.stop(1000)

    run(scenario)


def test_a_failing_disk_stops_the_node() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        disk.fail(Fault("flush", path_ending=".log"))
        replica.member.raft.append(replica.member.core.leader.epoch, [b"x"])
        await until(lambda: replica.failures)
        assert ".log" in str(replica.failures[0])
        await replica.member.raft.close()

    run(scenario)


def test_nothing_that_goes_wrong_in_a_flush_goes_unheard(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        monkeypatch.setattr(replica.member.store.log, "flush", lambda: 1 // 0)
        asking = asyncio.ensure_future(replica.ask(quota("ann")))
        await until(lambda: bool(replica.failures))
        asking.cancel()
        assert isinstance(replica.failures[0], ZeroDivisionError)
        await replica.member.raft.close()

    run(scenario)


def test_the_quorum_describes_itself() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        topic = RequestTopicData(topic_name="__cluster_metadata", partitions=[RequestPartitionData(partition_index=0)])
        answers: list[object] = []
        replica.member.raft.request(DescribeQuorumRequest(topics=[topic]), 2, "CONTROLLER", answers.append)
        assert isinstance(replica.member.core.role, Leader)
        assert "leader_id=1" in repr(answers[0])
        await replica.member.stop(1000)

    run(scenario)


def test_stopping_twice_and_after_a_failure_does_no_harm() -> None:
    async def scenario(disk: SimulatedDisk) -> None:
        replica = Replica(disk, config())
        await until(lambda: replica.driver.is_active)
        assert await replica.member.raft.shut_down(1000)
        assert await replica.member.raft.shut_down(1000)

    run(scenario)


class Refusing:
    """Another voter that answers whatever it is asked with a code."""

    def __init__(self, code: ErrorCode) -> None:
        self._code = code
        self.asked = 0

    def send(self, request: Request, done: Done, *, timeout_ms: int) -> None:
        """Answers at once."""
        self.asked += 1
        answer = VoteResponse if isinstance(request, VoteRequest) else FetchResponse
        done(answer(error_code=self._code))

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(("code", "said"), [(ErrorCode.REQUEST_TIMED_OUT, 0), (ErrorCode.INCONSISTENT_CLUSTER_ID, 1)])
def test_only_what_does_not_mend_itself_is_said_to_be_a_refusal(
    code: ErrorCode, said: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        voters = "1@127.0.0.1:9093,2@127.0.0.1:9094"
        settings = config(
            controller_quorum_voters=voters,
            controller_quorum_election_timeout_ms="5",
            controller_quorum_fetch_timeout_ms="5",
        )
        other = Refusing(code)
        replica = Replica(formatted_disk(settings), settings, lambda node: other)
        await until(lambda: other.asked >= 2)
        await replica.member.stop(0)

    asyncio.run(scenario())
    assert len([each for each in caplog.records if "refuses this node" in each.getMessage()]) == said
