"""A handler with an answer for one body, which it need not read."""

from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

PREPARED_FOR = ApiVersionsRequest(client_software_name="known", client_software_version="1").encode(3)


def prepared(parts: object, context: RequestContext, body: memoryview) -> bytes | None:
    return ApiVersionsResponse(throttle_time_ms=77).encode(3) if body == PREPARED_FOR else None


def handle(parts: object, context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    return ApiVersionsResponse(throttle_time_ms=1)
