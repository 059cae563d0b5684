"""UpdateFeatures (key 57), versions 0-2: forwarded to the active controller.

All features are updated or none: any error is INVALID_UPDATE_VERSION for the whole request. Up to v1 success comes
with a result for each feature, whose message is the text "NONE", as in Kafka. KIP-584, KIP-778, KIP-1022.
"""

from ottla.broker.handlers.forwarding import forward as handle

__all__ = ["handle"]
