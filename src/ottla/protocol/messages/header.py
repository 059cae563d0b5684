"""The headers before every request and response.

Which version of them goes with which message is in `ottla.protocol.frame`.
"""

from ottla.protocol.definition import Message
from ottla.protocol.field import int16, int32, legacy_string


class RequestHeader(Message, versions="1-2", flexible="2+"):
    request_api_key: int = int16("0+")
    request_api_version: int = int16("0+")
    correlation_id: int = int32("0+")
    client_id: str | None = legacy_string("1+", nullable="1+")


class ResponseHeader(Message, versions="0-1", flexible="1+"):
    correlation_id: int = int32("0+")
