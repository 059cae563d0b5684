"""Envelope (key 58): wraps a client's request that a broker forwards to the controller (KIP-590).

Sent by brokers to the active controller. `request_data` is the client's request with its own header;
`request_principal` says who sent it (see `ottla.protocol.principal`). `response_data` is the answer with its header,
null if the envelope itself failed, as with NOT_CONTROLLER, after which the broker tries again. The sender needs
CLUSTER_ACTION.
"""

from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.field import bytestring, int16


class EnvelopeRequest(Request, api=ApiKey.ENVELOPE, versions="0", flexible="0+"):
    request_data: bytes = bytestring("0+")
    request_principal: bytes | None = bytestring("0+", nullable="0+")
    client_host_address: bytes = bytestring("0+")


class EnvelopeResponse(Response, api=ApiKey.ENVELOPE, versions="0", flexible="0+"):
    response_data: bytes | None = bytestring("0+", nullable="0+", default=None)
    error_code: int = int16("0+")
