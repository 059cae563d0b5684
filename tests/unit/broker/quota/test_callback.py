"""Quotas that an operator's Python class decides on."""

import logging
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.base.metric import MetricRegistry
from ottla.broker.config.server_config import ServerConfig
from ottla.broker.quota.callback import QUOTA_CALLBACK, QuotaCallback, QuotaRequest, check_quota_callback
from ottla.broker.quota.client_quota import ClientQuotas, QuotaWindows
from ottla.broker.quota.mutation_quota import MutationQuotas
from ottla.protocol.errors import ThrottlingQuotaExceededError
from tests.integration.node.nodes import properties
from tests.unit.broker.hand_loop import HandLoop


class Tenants:
    """Clients of a tenant share its limit; others are nobody's business here."""

    limit: object = 1_000.0

    def quota(self, request: QuotaRequest) -> object:
        tenant, dot, _ = request.client_id.partition(".")
        if not dot or request.key == "request_percentage":
            return None
        return self.limit, tenant


class Each:
    """A limit for each client."""

    def __init__(self) -> None:
        self.asked: list[QuotaRequest] = []

    def quota(self, request: QuotaRequest) -> float:
        self.asked.append(request)
        return 5.0


class Rig:
    def __init__(self, asked: object) -> None:
        self.clock = HandLoop(0)
        self.callback = QuotaCallback(asked, self.clock)
        self.quotas = ClientQuotas(QuotaWindows(), self.clock, MetricRegistry(), self.callback)


def test_clients_share_what_they_are_told_to_share() -> None:
    rig = Rig(Tenants())
    assert rig.quotas.is_active
    first, second = rig.quotas.of("ann", "shop.a"), rig.quotas.of("bob", "shop.b")
    assert first.produce is not None
    assert first.produce is second.produce
    assert first.produce.limit == 1_000.0
    assert rig.quotas.of("ann", "bank.a").produce is not first.produce
    assert first.request is None
    assert rig.quotas.of("ann", "app").produce is None


def test_a_number_is_for_one_client_of_one_user() -> None:
    rig = Rig(asked := Each())
    assert rig.quotas.of("ann", "app").fetch is not rig.quotas.of("bob", "app").fetch
    assert QuotaRequest("producer_byte_rate", "ann", "app", None) in asked.asked


def test_an_answer_is_believed_for_a_second() -> None:
    asked = Tenants()
    rig = Rig(asked)
    before = rig.quotas.of("ann", "shop.a").produce
    assert before is not None
    asked.limit = 7
    assert before.limit == 1_000.0
    rig.clock.advance(1_000)
    after = rig.quotas.of("ann", "shop.a").produce
    assert after is before
    assert after.limit == 7.0


@pytest.mark.parametrize("limit", [0, -1.0, "many", float("nan")])
def test_what_fails_leaves_it_to_the_stored_quotas(limit: object, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    asked = Tenants()
    asked.limit = limit
    assert Rig(asked).quotas.of("ann", "shop.a") == (None, None, None)
    assert len(caplog.messages) == 1
    assert "the quota callback Tenants failed" in caplog.text


def test_changes_of_partitions() -> None:
    rig = Rig(Each())
    quotas = MutationQuotas(QuotaWindows(), rig.clock, rig.callback)
    quotas.account("ann", "app", is_strict=True).charge(100)
    with pytest.raises(ThrottlingQuotaExceededError):
        quotas.account("ann", "app", is_strict=True).charge(1)
    quotas.account("bob", "app", is_strict=True).charge(1)


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("org.example.QuotaCallback", "no such Python class"),
        (f"{__name__}:Rig", "the class has no method quota"),
    ],
)
def test_a_class_that_can_not_be_had_refuses_the_start(named: str, reason: str, tmp_path: Path) -> None:
    config = ServerConfig({**properties(tmp_path), QUOTA_CALLBACK.key: named})
    with pytest.raises(ConfigError, match=reason):
        check_quota_callback(config)
