"""A small node: answers real requests on a listener, so that clients have somebody to talk to."""

from collections.abc import Sequence

from ottla.net.channel import Exchange
from ottla.protocol.api_key import ApiKey
from ottla.protocol.definition import Request, Response
from ottla.protocol.errors import ErrorCode
from ottla.protocol.frame import decode_request, decode_request_header, encode_response, encode_response_around
from ottla.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from ottla.protocol.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from ottla.protocol.messages.header import RequestHeader
from ottla.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from tests.integration.net.served import Handler

SERVED = ((ApiKey.FETCH, 4, 17), (ApiKey.HEARTBEAT, 0, 2), (ApiKey.API_VERSIONS, 0, 4), (ApiKey.METADATA, 99, 100))


class Node(Handler):
    """Serves Heartbeat up to v2 and Fetch.

    A heartbeat of the group `late` is left to the test, that of `bad` gets bytes that are no answer, that of
    `confused` an answer to something else, and that of `leave` ends the connection.
    """

    def __init__(self, *, api_versions_max: int = 4, is_before_kip_511: bool = False) -> None:
        super().__init__()
        self.api_versions_max = api_versions_max
        self.is_before_kip_511 = is_before_kip_511
        self.headers: list[RequestHeader] = []
        self.records = b""

    def received(self, frame: memoryview, exchange: Exchange) -> None:
        header, _ = decode_request_header(frame)
        self.headers.append(header)
        exchange.proceed()
        if header.request_api_key == ApiKey.API_VERSIONS:
            exchange.answer([self._api_versions(header)])
            return
        header, request = decode_request(frame)
        if isinstance(request, HeartbeatRequest) and request.group_id == "late":
            super().received(frame, exchange)
        elif isinstance(request, HeartbeatRequest) and request.group_id == "leave":
            exchange.close("asked to")
        else:
            exchange.answer(self._answer(header, request))

    def answer_late(self, exchange: Exchange) -> None:
        """Answers a heartbeat that was left to the test, the oldest first."""
        header = next(header for header in self.headers if header.request_api_key == ApiKey.HEARTBEAT)
        self.headers.remove(header)
        exchange.answer(self._answer(header, HeartbeatRequest()))

    def _answer(self, header: RequestHeader, request: Request) -> Sequence[bytes | bytearray | memoryview]:
        version, correlation_id = header.request_api_version, header.correlation_id
        response: Response
        if isinstance(request, FetchRequest):
            partition = PartitionData(partition_index=0, high_watermark=7, records=self.records)
            response = FetchResponse(responses=[FetchableTopicResponse(topic="t", partitions=[partition])])
            return encode_response_around(response, version, correlation_id=correlation_id)
        assert isinstance(request, HeartbeatRequest)
        if request.group_id == "bad":
            return [b"\0\0\0\x05" + correlation_id.to_bytes(4, "big") + b"!"]
        if request.group_id == "confused":
            correlation_id += 1_000
        if request.group_id == "endless":
            return [b"\x7f\xff\xff\xff"]
        response = HeartbeatResponse(throttle_time_ms=version)
        return [encode_response(response, version, correlation_id=correlation_id)]

    def _api_versions(self, header: RequestHeader) -> bytes:
        keys = [ApiVersion(api_key=int(key), min_version=low, max_version=high) for key, low, high in SERVED]
        version = header.request_api_version
        if version <= self.api_versions_max:
            response = ApiVersionsResponse(api_keys=keys)
        else:
            own = ApiVersion(api_key=18, min_version=0, max_version=self.api_versions_max)
            response = ApiVersionsResponse(
                error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[] if self.is_before_kip_511 else [own]
            )
            version = 0
        return encode_response(response, version, correlation_id=header.correlation_id)
