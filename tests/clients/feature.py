"""Versions of what all nodes of a cluster have to agree on."""

from ottla.protocol.messages.update_features import FeatureUpdateKey, UpdateFeaturesRequest, UpdateFeaturesResponse
from tests.kafka.wire import Wire

_UNSAFE_DOWNGRADE = 2
_NOTHING_TO_DO = 95


def set_transaction_version(address: tuple[str, int], level: int) -> None:
    """1: partitions are added to transactions one by one; 2: writes add them (KIP-890)."""
    update = FeatureUpdateKey(feature="transaction.version", max_version_level=level, upgrade_type=_UNSAFE_DOWNGRADE)
    with Wire(address) as wire:
        answer = wire.ask(UpdateFeaturesRequest(timeout_ms=30_000, feature_updates=[update]), 2)
    assert isinstance(answer, UpdateFeaturesResponse)
    assert answer.error_code in (0, _NOTHING_TO_DO), answer
