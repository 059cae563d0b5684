"""Checks of a request to a classic group that need no group."""

from typing import Final

from ottla.coordinator.group.config import ClassicGroupConfig
from ottla.protocol.errors import InconsistentGroupProtocolError, InvalidGroupIdError, InvalidSessionTimeoutError
from ottla.protocol.messages.join_group import JoinGroupRequest
from ottla.protocol.messages.sync_group import SyncGroupRequest

_PROTOCOL_SINCE: Final = 5


def check_group_id(group_id: str) -> None:
    """The empty id is for offsets of old clients only; it has no members."""
    if not group_id:
        raise InvalidGroupIdError


def check_join(request: JoinGroupRequest, config: ClassicGroupConfig) -> None:
    """Refuses session timeouts that the broker does not want."""
    check_group_id(request.group_id)
    if not config.min_session_timeout_ms <= request.session_timeout_ms <= config.max_session_timeout_ms:
        raise InvalidSessionTimeoutError


def check_sync_protocol(request: SyncGroupRequest, api_version: int) -> None:
    """SyncGroup names its protocol from v5 on, and must (KIP-559); Kafka checks this before authorisation."""
    if api_version >= _PROTOCOL_SINCE and (request.protocol_type is None or request.protocol_name is None):
        raise InconsistentGroupProtocolError
