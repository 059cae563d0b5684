"""A producer's settings as it uses them, with the rules between them (KIP-679)."""

from typing import Final

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen
from ottla.client.cluster.backoff import Backoff
from ottla.client.config.settings import ClientSettings
from ottla.client.producer.accumulator import AccumulatorOptions
from ottla.protocol.compression import CompressionType
from ottla.protocol.records.writer import BatchOptions

_IN_FLIGHT_MAX: Final = 5
"""How many batches of a producer and partition a broker remembers."""


@frozen
class ProducerOptions:
    """The settings of the sender."""

    acks: int
    is_idempotent: bool
    transactional_id: str | None
    transaction_timeout_ms: int
    retries: int
    in_flight_max: int
    delivery_timeout_ms: int
    request_timeout_ms: int
    max_block_ms: int
    request_bytes_max: int
    accumulator: AccumulatorOptions
    batch: BatchOptions
    backoff: Backoff

    @classmethod
    def of(cls, settings: ClientSettings) -> "ProducerOptions":
        """Reads the settings; raises `ConfigError` where they contradict each other."""
        transactional_id = settings.optional_string("transactional.id")
        if settings.boolean("transaction.two.phase.commit.enable"):
            raise ConfigError(
                "transaction.two.phase.commit.enable", True, "two-phase commit (KIP-939) is not supported"
            )
        compression = CompressionType.from_name(settings.string("compression.type"))
        return cls(
            acks=_acks(settings),
            is_idempotent=_is_idempotent(settings, transactional_id),
            transactional_id=transactional_id,
            transaction_timeout_ms=settings.integer("transaction.timeout.ms"),
            retries=settings.integer("retries"),
            in_flight_max=settings.integer("max.in.flight.requests.per.connection"),
            delivery_timeout_ms=_delivery_timeout_ms(settings),
            request_timeout_ms=settings.integer("request.timeout.ms"),
            max_block_ms=settings.integer("max.block.ms"),
            request_bytes_max=settings.integer("max.request.size"),
            accumulator=_accumulator_options(settings, compression),
            batch=BatchOptions(
                compression=compression,
                compression_level=_level(settings, compression),
                is_transactional=transactional_id is not None,
            ),
            backoff=Backoff.of_retries(settings),
        )

    @property
    def keeps_order(self) -> bool:
        """Whether a partition may have one request in flight only, so that a retry overtakes nothing."""
        return self.in_flight_max == 1


def _acks(settings: ClientSettings) -> int:
    text = settings.string("acks")
    return -1 if text == "all" else int(text)


def _is_idempotent(settings: ClientSettings, transactional_id: str | None) -> bool:
    """On by default; what contradicts it turns it off, unless it was asked for."""
    asked = settings.is_given("enable.idempotence")
    if not settings.boolean("enable.idempotence"):
        if transactional_id is not None:
            raise ConfigError("enable.idempotence", False, "a producer with a transactional.id is idempotent")
        return False
    needed = "for an idempotent producer" if transactional_id is None else "for a producer with a transactional.id"
    refusals = (
        ("acks", settings.string("acks"), _acks(settings) != -1, "must be all"),
        ("retries", settings.integer("retries"), settings.integer("retries") == 0, "must not be 0"),
        (
            "max.in.flight.requests.per.connection",
            settings.integer("max.in.flight.requests.per.connection"),
            settings.integer("max.in.flight.requests.per.connection") > _IN_FLIGHT_MAX,
            f"must be at most {_IN_FLIGHT_MAX}",
        ),
    )
    for name, value, contradicts, rule in refusals:
        if contradicts:
            if asked or transactional_id is not None:
                raise ConfigError(name, value, f"{rule} {needed}")
            return False
    return True


def _delivery_timeout_ms(settings: ClientSettings) -> int:
    """Room for the linger time and one attempt at least."""
    least = settings.integer("linger.ms") + settings.integer("request.timeout.ms")
    wanted = settings.integer("delivery.timeout.ms")
    if wanted >= least:
        return wanted
    if settings.is_given("delivery.timeout.ms"):
        raise ConfigError(
            "delivery.timeout.ms", wanted, f"should be at least linger.ms + request.timeout.ms, which are {least}"
        )
    return least


def _level(settings: ClientSettings, compression: CompressionType) -> int | None:
    name = f"compression.{compression.config_name}.level"
    return settings.integer(name) if name in settings else None


def _accumulator_options(settings: ClientSettings, compression: CompressionType) -> AccumulatorOptions:
    return AccumulatorOptions(
        batch_size=settings.integer("batch.size"),
        linger_ms=settings.integer("linger.ms"),
        memory_bytes=settings.integer("buffer.memory"),
        record_bytes_max=min(settings.integer("max.request.size"), settings.integer("buffer.memory")),
        compressed=compression is not CompressionType.NONE,
    )
