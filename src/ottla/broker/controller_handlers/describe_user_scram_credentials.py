"""DescribeUserScramCredentials (key 50) on the controller listener, version 0: as a broker answers it.

Deviation: Apache Kafka's controller lists the call and answers UNKNOWN_SERVER_ERROR. KIP-554.
"""

from typing import TYPE_CHECKING, cast

from ottla.broker.handlers.security import describe_user_scram_credentials
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts


def handle(
    parts: ControllerParts, context: RequestContext, request: DescribeUserScramCredentialsRequest
) -> DescribeUserScramCredentialsResponse:
    """Answers from the image, which brokers and controllers both have."""
    return describe_user_scram_credentials.handle(cast("BrokerParts", parts), context, request)
