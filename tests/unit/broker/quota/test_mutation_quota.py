"""How many partitions clients may make or delete: refused or told to wait by what they know, whatever their name."""

import pytest

from ottla.broker.quota.client_quota import QuotaWindows
from ottla.broker.quota.mutation_quota import MutationCharge, MutationQuotas
from ottla.metadata.image.metadata_delta import apply_records
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, Provenance
from ottla.protocol.errors import ThrottlingQuotaExceededError
from ottla.protocol.metadata_log.config import ClientQuotaRecord, EntityData
from tests.unit.broker.hand_loop import HandLoop


class Rig:
    def __init__(self, rate: float) -> None:
        self.clock = HandLoop(0)
        self.quotas = MutationQuotas(QuotaWindows(), self.clock)
        entity = [EntityData(entity_type="user", entity_name=None)]
        record = ClientQuotaRecord(entity=entity, key="controller_mutation_rate", value=rate, remove=False)
        image, delta = apply_records(EMPTY_IMAGE, [record], Provenance(1, 1, 1))
        self.quotas.metadata_changed(delta, image)

    def account(self, user: str = "ann", *, is_strict: bool = True) -> MutationCharge:
        return self.quotas.account(user, "app", is_strict=is_strict)


def test_a_bucket_may_be_overdrawn_once() -> None:
    rig = Rig(rate=1.0)
    rig.account().charge(30)
    assert rig.account().wait_ms == 19_000
    with pytest.raises(ThrottlingQuotaExceededError):
        rig.account().charge(1)
    rig.clock.advance(19_000)
    rig.account().charge(1)


def test_older_clients_are_told_to_wait_and_served() -> None:
    rig = Rig(rate=1.0)
    for _ in range(3):
        rig.account(is_strict=False).charge(10)
    assert rig.account().wait_ms == 19_000


def test_a_default_quota_gives_each_user_a_bucket() -> None:
    rig = Rig(rate=1.0)
    rig.account("ann").charge(30)
    assert rig.account("bob").wait_ms == 0


def test_who_has_no_quota_is_free() -> None:
    free = MutationQuotas(QuotaWindows(), HandLoop(0)).account("ann", "app", is_strict=True)
    free.charge(1_000_000)
    assert free.wait_ms == 0
