"""UnregisterBroker (key 64): removes the registration of a broker that won't come back.

Sent by admin clients to any broker, which forwards it to the controller. An unknown id gets BROKER_ID_NOT_REGISTERED.
The broker's replicas stay assigned to it: reassign them before.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import int16, int32, string


class UnregisterBrokerRequest(Request, api=ApiKey.UNREGISTER_BROKER, versions="0", flexible="0+"):
    broker_id: int = int32("0+")


class UnregisterBrokerResponse(Response, api=ApiKey.UNREGISTER_BROKER, versions="0", flexible="0+"):
    throttle_time_ms: int = int32("0+")
    error_code: int = int16("0+")
    error_message: str | None = string("0+", nullable="0+")
