"""A controller whose state is in doubt gives up its leadership; one that merely refuses goes on."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NoReturn

import pytest

from ottla.metadata.controller.answer import Answer
from ottla.metadata.controller.context import Caller
from ottla.metadata.errors import MetadataError
from ottla.protocol.errors import ErrorCode, NotControllerError, UnknownServerError
from ottla.protocol.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.raft.core import RaftCore
from ottla.raft.errors import AppendBufferFullError
from ottla.storage.disk.simulated import SimulatedDisk
from tests.unit.broker.quorum.rig import Replica, config, formatted_disk, given, quota, until

SETTINGS = config(controller_quorum_election_timeout_ms="50")


def run(scenario: Callable[[Replica], Awaitable[None]]) -> None:
    async def start() -> None:
        disk: SimulatedDisk = formatted_disk(SETTINGS)
        replica = Replica(disk, SETTINGS)
        await until(lambda: replica.driver.is_active)
        await scenario(replica)
        await replica.member.stop(1000)
        assert replica.failures == []

    asyncio.run(start())


def test_a_quorum_that_takes_no_more_ends_the_term(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(core: RaftCore, epoch: int, values: Sequence[bytes], now_ms: int) -> NoReturn:
        raise AppendBufferFullError("40 MB are waiting to be written")

    async def scenario(replica: Replica) -> None:
        epoch = replica.member.core.leader.epoch
        with monkeypatch.context() as patched:
            patched.setattr(RaftCore, "append", full)
            with pytest.raises(NotControllerError):
                await replica.ask(quota("ann"))
        assert not replica.driver.is_active
        await until(lambda: replica.driver.is_active)
        assert replica.member.core.leader.epoch > epoch
        await replica.ask(quota("ann"))

    run(scenario)


def test_an_operation_that_breaks_after_it_wrote_ends_the_term(monkeypatch: pytest.MonkeyPatch) -> None:
    real_append = RaftCore.append

    def breaking(core: RaftCore, epoch: int, values: Sequence[bytes], now_ms: int) -> int:
        return real_append(core, epoch, values, now_ms) + 1

    async def scenario(replica: Replica) -> None:
        epoch = replica.member.core.leader.epoch
        with monkeypatch.context() as patched:
            patched.setattr(RaftCore, "append", breaking)
            answer = await given(replica.driver.submit(quota("ann"), Caller(api_version=1)))
        assert answer.error is not None
        assert answer.error.code in (ErrorCode.UNKNOWN_SERVER_ERROR, ErrorCode.NOT_CONTROLLER)
        await until(lambda: replica.driver.is_active and replica.member.core.leader.epoch > epoch)
        await replica.ask(quota("bob"))
        # What was written came to be committed all the same, and counts.
        assert len(replica.member.metadata.image.client_quotas) == 2

    run(scenario)


def test_an_operation_that_breaks_before_it_wrote_is_refused_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(replica: Replica) -> None:
        epoch = replica.member.core.leader.epoch

        def broken(*arguments: object) -> NoReturn:
            raise MetadataError("cannot be applied")

        with monkeypatch.context() as patched:
            patched.setattr(replica.driver.controller, "submit", broken)
            with pytest.raises(UnknownServerError):
                await replica.ask(quota("ann"))
        assert replica.driver.is_active
        assert replica.member.core.leader.epoch == epoch
        await replica.ask(quota("ann"))

    run(scenario)


def test_a_caller_that_breaks_on_its_answer_costs_nobody_else_theirs() -> None:
    async def scenario(replica: Replica) -> None:
        def broken(answer: Answer) -> NoReturn:
            raise ValueError("cannot be encoded")

        caller = Caller(api_version=1)
        replica.driver.submit(quota("ann"), caller).when_done(broken)
        await given(replica.driver.submit(quota("bob"), caller))
        assert replica.failures == []
        assert replica.driver.is_active

    run(scenario)


def test_a_heartbeat_of_an_unknown_broker_is_refused() -> None:
    async def scenario(replica: Replica) -> None:
        request = BrokerHeartbeatRequest(broker_id=5, broker_epoch=1)
        answer = await given(replica.driver.submit(request, Caller(api_version=2)))
        assert answer.error is not None
        assert answer.error.code == ErrorCode.STALE_BROKER_EPOCH

    run(scenario)


def test_an_idle_controller_keeps_the_log_moving() -> None:
    async def scenario(replica: Replica) -> None:
        offset = replica.member.metadata.image.provenance.offset
        await until(lambda: replica.member.metadata.image.provenance.offset > offset)

    run(scenario)


def test_a_term_that_the_controller_ended_itself_costs_the_leadership(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when only a part of a large operation got into the log."""

    async def scenario(replica: Replica) -> None:
        epoch = replica.member.core.leader.epoch
        controller = replica.driver.controller

        def half_done(*arguments: object) -> Answer:
            controller.renounce()
            answer = Answer()
            answer.refuse(NotControllerError())
            return answer

        with monkeypatch.context() as patched:
            patched.setattr(controller, "submit", half_done)
            with pytest.raises(NotControllerError):
                await replica.ask(quota("ann"))
        await until(lambda: replica.driver.is_active and replica.member.core.leader.epoch > epoch)
        await replica.ask(quota("ann"))

    run(scenario)
