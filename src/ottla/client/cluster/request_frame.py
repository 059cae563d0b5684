"""A request as it leaves: in pieces, so that records are sent from where they lie."""

from typing import Final

from ottla.protocol.codec import engine
from ottla.protocol.definition import Request
from ottla.protocol.field import Records
from ottla.protocol.frame import request_header_version
from ottla.protocol.messages.header import RequestHeader

_SIZE_BYTES: Final = 4


def encode_request_around(
    request: Request, version: int, *, correlation_id: int, client_id: str | None
) -> list[Records]:
    """The whole frame in pieces; each `records` value is a piece of its own, the object that was set.

    >>> from ottla.protocol.messages.heartbeat import HeartbeatRequest
    >>> pieces = encode_request_around(HeartbeatRequest(group_id="g"), 0, correlation_id=7, client_id="c")
    >>> b"".join(pieces).hex(" ", 4)
    '00000014 000c0000 00000007 00016300 01670000 00000000'
    """
    header = RequestHeader(
        request_api_key=request.api,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_plan = header.plan(request_header_version(request.api, version))
    pieces = engine.encode_around(((header_plan, header), (request.plan(version), request)))
    size = sum(piece.nbytes if isinstance(piece, memoryview) else len(piece) for piece in pieces)
    first = pieces[0]
    assert isinstance(first, bytes)
    pieces[0] = size.to_bytes(_SIZE_BYTES, "big") + first
    return pieces
