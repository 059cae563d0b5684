"""ApiVersions (key 18), versions 0–4: which calls this broker serves in which versions, and the cluster's features.

Answered before authentication on every listener. Versions that we don't know never come here: the pipeline answers
them in version 0 with UNSUPPORTED_VERSION. From v3 a client tells its name and version, and gets INVALID_REQUEST with
no keys if they contain anything but letters, digits, dots and dashes, or begin or end with one of the latter.
Below v4 features whose lowest level is 0 are left out (KAFKA-17492).

Deviations: none in form; what is listed is what is served here. KIP-35, KIP-511, KIP-584.
"""

import re
from typing import Final

from ottla.broker.node.parts import BrokerParts
from ottla.broker.request.client_session import ClientSession, ClientSoftware
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.errors import ErrorCode
from ottla.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse

_NAMED_SINCE: Final = 3
_SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


def handle(parts: BrokerParts, context: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse | None:
    """Answers from what is prepared."""
    if is_refused(request, context.version):
        return ApiVersionsResponse(error_code=int(ErrorCode.INVALID_REQUEST))
    session = context.connection.session
    if context.version >= _NAMED_SINCE and isinstance(session, ClientSession):
        session.software = ClientSoftware(request.client_software_name, request.client_software_version)
    context.answer_encoded(parts.api_versions.encoded(context.version, parts.metadata.image, parts.kraft_version()))
    return None


def is_refused(request: ApiVersionsRequest, version: int) -> bool:
    """Whether the client calls itself something that could not stand in a metric's name."""
    if version < _NAMED_SINCE:
        return False
    named = (request.client_software_name, request.client_software_version)
    return not all(_SOFTWARE.fullmatch(text) for text in named)
