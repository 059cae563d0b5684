"""UpdateFeatures (key 57) at the controller, versions 0–2: finalizes other levels of features.

Deviations: none known; see `ottla.metadata.controller.resource.feature_update`. KIP-584, KIP-1022.
"""

from ottla.broker.controller_handlers.submission import submit
from ottla.broker.node.controller_parts import ControllerParts
from ottla.broker.request.request_context import RequestContext
from ottla.protocol.messages.update_features import UpdateFeaturesRequest


def handle(parts: ControllerParts, context: RequestContext, request: UpdateFeaturesRequest) -> None:
    """Hands it to the controller."""
    submit(parts, context, request)
