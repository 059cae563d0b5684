"""Envelope (key 58): broker forwards client request to controller."""

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
