"""The fields of a JoinGroup about its member."""

from typing import Final

from ottla.coordinator.group.classic.group import ClassicMember
from ottla.coordinator.group.group_kind import Join

_REBALANCE_TIMEOUT_VERSION: Final = 1
_REASON_CHARACTERS_MAX: Final = 255


def joining_member(join: Join, member_id: str) -> ClassicMember:
    """The member; JoinGroup v0 knows one timeout for both purposes."""
    request = join.request
    has_timeout = join.caller.api_version >= _REBALANCE_TIMEOUT_VERSION
    return ClassicMember(
        member_id=member_id,
        instance_id=request.group_instance_id,
        client_id=join.caller.client_id,
        client_host=join.caller.client_host,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if has_timeout else request.session_timeout_ms,
        protocols=joining_protocols(join),
    )


def joining_protocols(join: Join) -> tuple[tuple[str, bytes], ...]:
    """Name and metadata of each protocol; of two with one name the first, or its votes would count twice."""
    protocols: dict[str, bytes] = {}
    for protocol in join.request.protocols:
        protocols.setdefault(protocol.name, bytes(protocol.metadata))
    return tuple(protocols.items())


def join_reason(join: Join) -> str:
    """Why the client says that it joins (KIP-800)."""
    return f"client reason: {(join.request.reason or 'not provided')[:_REASON_CHARACTERS_MAX]}"
