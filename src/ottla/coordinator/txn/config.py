"""Settings of the transaction coordinator, with Kafka's defaults; the broker fills them from its configuration."""

from ottla.base.frozen import frozen


@frozen
class TxnConfig:
    """The operator's settings."""

    transaction_timeout_ms_max: int = 900_000
    """The longest time-out that a producer may ask for (`transaction.max.timeout.ms`)."""
    id_expiration_ms: int = 604_800_000
    """How long an id without a transaction is remembered (`transactional.id.expiration.ms`)."""
    id_expiration_interval_ms: int = 3_600_000
    """How often to look for such ids (`transaction.remove.expired.transaction.cleanup.interval.ms`)."""
    is_two_phase_commit_enabled: bool = False
    """Whether transactions without time-out are allowed (`transaction.two.phase.commit.enable`, KIP-939)."""
    write_timeout_ms: int = 30_000
    """How long an answer may wait for the replicas of `__transaction_state` (`request.timeout.ms`)."""
    transaction_topic_partitions: int = 50
    """How many partitions `__transaction_state` will have (`transaction.state.log.num.partitions`)."""
    offsets_topic_partitions: int = 50
    """How many partitions `__consumer_offsets` will have (`offsets.topic.num.partitions`)."""
