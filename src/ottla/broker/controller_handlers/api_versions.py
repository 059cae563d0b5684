"""ApiVersions (key 18) on the controller listener, versions 0–4: which calls a controller serves, and its features.

As on a broker, with the controller's own calls. A leader that adds a voter learns from it which levels of
kraft.version the newcomer can run at.

Deviations: none in form; what is listed is what is served here. KIP-35, KIP-511, KIP-584, KIP-919.
"""

from ottla.broker.handlers.metadata.api_versions import is_refused
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse


def handle(parts: ControllerParts, context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse | None:
    """Answers from what is prepared."""
    if is_refused(request, context.version):
        return ApiVersionsResponse(error_code=int(ErrorCode.INVALID_REQUEST))
    kraft_version = parts.raft.core.kraft_version
    context.answer_encoded(parts.api_versions.encoded(context.version, parts.metadata.image, kraft_version))
    return None
