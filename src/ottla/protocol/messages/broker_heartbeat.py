"""BrokerHeartbeat (key 63): keeps a broker registered, and asks to be unfenced or to stop (KIP-631).

Sent by brokers to the active controller, every two seconds by default. The controller unfences a broker that doesn't
`want_fence` once its `current_metadata_offset` has reached its own registration. `want_shut_down` moves leaders away;
`should_shut_down` in an answer lets it go. v1 reports failed directories (KIP-858), v2 cordoned ones (KIP-1066): null
until the broker knows them.
"""

from ottla.base.ids import Uuid
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import array, boolean, int16, int32, int64, uuid


class BrokerHeartbeatRequest(Request, api=ApiKey.BROKER_HEARTBEAT, versions="0-2", flexible="0+"):
    broker_id: int = int32("0+")
    broker_epoch: int = int64("0+", default=-1)
    current_metadata_offset: int = int64("0+")
    want_fence: bool = boolean("0+")
    want_shut_down: bool = boolean("0+")
    offline_log_dirs: list[Uuid] = array(uuid, "1+", tag=0)
    cordoned_log_dirs: list[Uuid] | None = array(uuid, "2+", nullable="2+", default=None, tag=1)


class BrokerHeartbeatResponse(Response, api=ApiKey.BROKER_HEARTBEAT, versions="0-2", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    is_caught_up: bool = boolean("0+")
    is_fenced: bool = boolean("0+", default=True)
    should_shut_down: bool = boolean("0+")
