"""The fetch options of a consumer, from its settings."""

from ottla.base.frozen import frozen
from ottla.client.config.settings import ClientSettings
from ottla.client.consumer.fetch.fetch_session import SessionRequest
from ottla.protocol.messages.fetch import FetchRequest


@frozen
class FetchOptions:
    """The settings of Kafka's names, typed."""

    min_bytes: int
    max_bytes: int
    max_wait_ms: int
    partition_bytes_max: int
    isolation_level: int
    rack: str
    check_crcs: bool
    request_timeout_ms: int
    metadata_max_age_ms: int

    @classmethod
    def of(cls, settings: ClientSettings) -> "FetchOptions":
        """The options that a consumer's settings give."""
        return cls(
            min_bytes=settings.integer("fetch.min.bytes"),
            max_bytes=settings.integer("fetch.max.bytes"),
            max_wait_ms=settings.integer("fetch.max.wait.ms"),
            partition_bytes_max=settings.integer("max.partition.fetch.bytes"),
            isolation_level=int(settings.string("isolation.level") == "read_committed"),
            rack=settings.optional_string("client.rack") or "",
            check_crcs=settings.boolean("check.crcs"),
            request_timeout_ms=settings.integer("request.timeout.ms"),
            metadata_max_age_ms=settings.integer("metadata.max.age.ms"),
        )

    def request(self, session: SessionRequest, *, max_wait_ms: int | None = None) -> FetchRequest:
        """A request for what the session says; it may wait at the broker for that long."""
        return FetchRequest(
            max_wait_ms=self.max_wait_ms if max_wait_ms is None else max_wait_ms,
            min_bytes=self.min_bytes,
            max_bytes=self.max_bytes,
            isolation_level=self.isolation_level,
            session_id=session.session_id,
            session_epoch=session.epoch,
            topics=session.topics,
            forgotten_topics_data=session.forgotten,
            rack_id=self.rack,
        )
