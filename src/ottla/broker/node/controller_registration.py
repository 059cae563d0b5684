"""A controller tells the active one where it listens and what it supports, so that clients can be told (KIP-919).

It registers whenever the log does not hold this very incarnation of it, the active controller itself included. The
log is what counts: an answer that got lost does no harm.
"""

import logging
from collections.abc import Sequence
from typing import Final

from ottla.base.ids import Uuid
from ottla.base.log import IdentityLogger
from ottla.broker.node.lifecycle import Channel, Scheduler, Timer
from ottla.metadata.feature import supported_features
from ottla.metadata.image.cluster import Endpoint
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.protocol.definition import Response
from ottla.protocol.errors import ApiError
from ottla.protocol.messages.controller_registration import ControllerRegistrationRequest, Feature, Listener

_TIMEOUT_MS: Final = 30_000
_BACKOFF_MS: Final = 100
_BACKOFF_MS_MAX: Final = 120_000


class ControllerRegistration:
    """Keeps one controller registered. A metadata listener. Loop thread only."""

    def __init__(
        self, node_id: int, incarnation_id: Uuid, listeners: Sequence[Endpoint], channel: Channel, loop: Scheduler
    ) -> None:
        self._node_id = node_id
        self._incarnation_id = incarnation_id
        self._listeners = listeners
        self._channel = channel
        self._loop = loop
        self._log = IdentityLogger(logging.getLogger(__name__), f"ControllerRegistrationManager id={node_id}")
        self._is_due = False
        self._is_in_flight = False
        self._is_closed = False
        self._failures = 0
        self._timer: Timer | None = None

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Registers if the log has another incarnation of this controller, or none, and a place for one."""
        known = image.cluster.controllers.get(self._node_id)
        is_known = known is not None and known.incarnation_id == self._incarnation_id
        self._is_due = not is_known and not image.is_empty and image.features.version.supports_controller_registration
        if self._is_due and self._timer is None:
            self._schedule(0)

    def close(self) -> None:
        """Registers no more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self, delay_ms: int) -> None:
        self._timer = self._loop.call_later(delay_ms / 1000, self._register)

    def _register(self) -> None:
        self._timer = None
        if not self._is_due or self._is_in_flight or self._is_closed:
            return
        request = ControllerRegistrationRequest(
            controller_id=self._node_id,
            incarnation_id=self._incarnation_id,
            listeners=[Listener(**endpoint._asdict()) for endpoint in self._listeners],
            features=[
                Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
                for name, levels in supported_features().items()
            ],
        )
        self._is_in_flight = True
        self._channel.send(request, self._answered, timeout_ms=_TIMEOUT_MS)

    def _answered(self, answer: Response | ApiError) -> None:
        self._is_in_flight = False
        if self._is_closed:
            return
        if isinstance(answer, Response):
            self._failures = 0
            self._log.info("this controller is registered as incarnation %s", self._incarnation_id)
            return
        self._log.info("unable to register this controller: %s", answer)
        delay_ms = min(_BACKOFF_MS * 2 ** min(self._failures, 20), _BACKOFF_MS_MAX)
        self._failures += 1
        if self._timer is None:
            self._schedule(delay_ms)
