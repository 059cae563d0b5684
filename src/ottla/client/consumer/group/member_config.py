"""A member's identity and time-outs: the settings of its group, read once."""

from ottla.base.frozen import frozen

PROTOCOL_TYPE = "consumer"


@frozen
class MemberConfig:
    """The settings of a membership."""

    group_id: str
    group_instance_id: str | None = None
    rack_id: str | None = None
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    max_poll_interval_ms: int = 300_000
    server_assignor: str | None = None

    @property
    def is_static(self) -> bool:
        """Whether the member keeps its place over a restart (KIP-345)."""
        return self.group_instance_id is not None
