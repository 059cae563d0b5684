"""The settings that the controller's decisions depend on, with Kafka's defaults."""

from ottla.base.frozen import frozen
from ottla.base.ids import Uuid


@frozen
class ControllerSettings:
    """Static settings of this node."""

    node_id: int
    cluster_id: str
    broker_incarnation_id: Uuid | None = None
    """The incarnation id of broker `node_id`, if that is this very process; None if it is a controller only."""
    num_partitions: int = 1
    default_replication_factor: int = 1
    delete_topic_enable: bool = True
    broker_session_timeout_ms: int = 9_000
    metadata_max_idle_interval_ms: int = 500
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_check_interval_ms: int = 300_000
    unclean_leader_election_interval_ms: int = 300_000
    delegation_token_secret_key: bytes | None = None
    """None switches delegation tokens off."""
    delegation_token_max_lifetime_ms: int = 7 * 24 * 3_600_000
    delegation_token_expiry_time_ms: int = 24 * 3_600_000
    delegation_token_expiry_check_interval_ms: int = 3_600_000

    def __repr__(self) -> str:
        return f"ControllerSettings(node_id={self.node_id}, cluster_id={self.cluster_id!r})"
