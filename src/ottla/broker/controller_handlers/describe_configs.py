"""DescribeConfigs (key 32) on the controller listener, versions 1–4: as a broker answers it, of this controller.

Clients that talk to controllers (`--bootstrap-controller`) see its static and dynamic configs and its loggers, and
whatever else the image holds.

Deviations: those of `ottla.broker.handlers.config.describe_configs`. KIP-919.
"""

from typing import TYPE_CHECKING, cast

from ottla.broker.handlers.config import describe_configs
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.definition import Response
from ottla.protocol.messages.describe_configs import DescribeConfigsRequest

if TYPE_CHECKING:
    from ottla.broker.node.parts import BrokerParts


def handle(parts: ControllerParts, context: RequestContext, request: DescribeConfigsRequest) -> Response | None:
    """Answers from settings and image, which brokers and controllers both have."""
    return describe_configs.handle(cast("BrokerParts", parts), context, request)
