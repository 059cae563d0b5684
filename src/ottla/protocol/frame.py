"""Requests and responses as they stand on the wire: a size, a header, a body.

The rules that no definition tells: flexible versions have the newer header; ApiVersions is always answered with the
oldest one, because its client doesn't know yet what the server speaks; a request's body is read with Kafka's
tolerance. The four bytes of the size belong to what is encoded here, and are expected to be gone from what is decoded.
"""

from ottla.base.buffer import Buffer
from ottla.protocol.api_key import ApiKey
from ottla.protocol.catalog import request_type, response_type
from ottla.protocol.codec import engine
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import DecodeError, InvalidRequestError
from ottla.protocol.field import Records
from ottla.protocol.messages.header import RequestHeader, ResponseHeader


def request_header_version(api: ApiKey, version: int) -> int:
    """The version of the header before a request.

    >>> request_header_version(ApiKey.FETCH, 11), request_header_version(ApiKey.FETCH, 12)
    (1, 2)
    """
    return 2 if request_type(api).is_flexible(version) else 1


def response_header_version(api: ApiKey, version: int) -> int:
    """The version of the header before a response.

    >>> response_header_version(ApiKey.FETCH, 12), response_header_version(ApiKey.API_VERSIONS, 4)
    (1, 0)
    """
    if api is ApiKey.API_VERSIONS:
        return 0
    return 1 if response_type(api).is_flexible(version) else 0


def encode_request(request: Request, version: int, *, correlation_id: int, client_id: str | None) -> bytes:
    """The whole frame of a request.

    >>> from ottla.protocol.messages.heartbeat import HeartbeatRequest
    >>> encode_request(HeartbeatRequest(group_id="g"), 0, correlation_id=7, client_id="c").hex(" ", 4)
    '00000014 000c0000 00000007 00016300 01670000 00000000'
    """
    header = RequestHeader(
        request_api_key=request.api,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_plan = header.plan(request_header_version(request.api, version))
    return _sized(engine.encode(((header_plan, header), (request.plan(version), request))))


def encode_response(response: Response, version: int, *, correlation_id: int) -> bytes:
    """The whole frame of a response."""
    return _sized(engine.encode(_response_parts(response, version, correlation_id)))


def encode_response_around(response: Response, version: int, *, correlation_id: int) -> list[Records]:
    """The whole frame of a response in pieces; each `records` value is a piece of its own, the object that was set."""
    pieces = engine.encode_around(_response_parts(response, version, correlation_id))
    size = sum(piece.nbytes if isinstance(piece, memoryview) else len(piece) for piece in pieces)
    return [size.to_bytes(4, "big"), *pieces]


def decode_request_header(frame: Buffer) -> tuple[RequestHeader, int]:
    """The header of a request, and where its body starts.

    Asks only for an API key that exists, so that a server can answer a version of ApiVersions it does not know.
    """
    if len(frame) < 4:
        raise DecodeError(f"a request of {len(frame)} bytes", path="RequestHeader", position=0)
    key = int.from_bytes(frame[0:2], "big", signed=True)
    version = int.from_bytes(frame[2:4], "big", signed=True)
    try:
        api = ApiKey(key)
    except ValueError:
        raise InvalidRequestError(f"unknown API key {key}") from None
    return RequestHeader.decode_tolerantly(frame, 0, request_header_version(api, version))


def decode_request(frame: Buffer) -> tuple[RequestHeader, Request]:
    """A request with its header; bytes behind it are ignored, as Kafka ignores them.

    Raises `DecodeError`, `InvalidRequestError` for an unknown key, `UnsupportedVersionError` for an unknown version.
    """
    header, position = decode_request_header(frame)
    body = request_type(ApiKey(header.request_api_key))
    request, _ = body.decode_tolerantly(frame, position, header.request_api_version)
    return header, request


def decode_response(frame: Buffer, api: ApiKey, version: int) -> tuple[int, Response]:
    """A response and the correlation id of the request that it answers."""
    header, position = ResponseHeader.decode_from(frame, 0, response_header_version(api, version))
    response, end = response_type(api).decode_from(frame, position, version)
    left = memoryview(frame).nbytes - end
    if left:
        raise DecodeError(f"{left} bytes left over", path=type(response).__name__, position=end)
    return header.correlation_id, response


def _response_parts(response: Response, version: int, correlation_id: int) -> engine.Parts:
    header = ResponseHeader(correlation_id=correlation_id)
    header_plan = header.plan(response_header_version(response.api, version))
    return (header_plan, header), (response.plan(version), response)


def _sized(encoded: bytes) -> bytes:
    return len(encoded).to_bytes(4, "big") + encoded
