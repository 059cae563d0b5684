"""The rules between a producer's settings (KIP-679)."""

import pytest

from ottla.base.config import ConfigError
from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.producer.option import ProducerOptions
from ottla.protocol.compression import CompressionType


def options(**settings: object) -> ProducerOptions:
    return ProducerOptions.of(ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", **settings))


def test_defaults_are_kafkas() -> None:
    found = options()
    assert (found.acks, found.is_idempotent, found.in_flight_max, found.delivery_timeout_ms) == (-1, True, 5, 120_000)
    assert (found.accumulator.batch_size, found.accumulator.linger_ms) == (16_384, 5)
    assert not found.batch.is_transactional


@pytest.mark.parametrize(
    "contradiction", [{"acks": 1}, {"acks": "0"}, {"retries": 0}, {"max_in_flight_requests_per_connection": 6}]
)
def test_contradiction_turns_idempotence_off_unless_it_was_asked_for(contradiction: dict[str, object]) -> None:
    assert not options(**contradiction).is_idempotent
    with pytest.raises(ConfigError, match="idempotent"):
        options(enable_idempotence=True, **contradiction)
    with pytest.raises(ConfigError, match=r"transactional\.id"):
        options(transactional_id="t", **contradiction)


def test_transactions_are_idempotent() -> None:
    assert options(transactional_id="t").batch.is_transactional
    with pytest.raises(ConfigError):
        options(transactional_id="t", enable_idempotence=False)


def test_delivery_takes_at_least_linger_and_one_request() -> None:
    assert options(linger_ms=200_000).delivery_timeout_ms == 230_000
    with pytest.raises(ConfigError, match=r"linger\.ms"):
        options(linger_ms=1_000, request_timeout_ms=1_000, delivery_timeout_ms=1_999)


def test_codec_and_level() -> None:
    found = options(compression_type="zstd", compression_zstd_level=7)
    assert (found.batch.compression, found.batch.compression_level) == (CompressionType.ZSTD, 7)
    assert options(compression_type="snappy").batch.compression_level is None


def test_two_phase_commit_is_refused_rather_than_ignored() -> None:
    with pytest.raises(ConfigError, match="KIP-939"):
        options(transactional_id="t", transaction_two_phase_commit_enable=True)
