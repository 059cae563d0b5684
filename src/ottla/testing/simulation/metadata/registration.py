"""A controller as the active one knows it: registers once it sees that the log does not know this run of it."""

from typing import Any, Final

from ottla.base.ids import Uuid
from ottla.metadata.feature import supported_features
from ottla.protocol.messages.controller_registration import ControllerRegistrationRequest, Feature, Listener
from ottla.testing.simulation.metadata.part import MetadataPart
from ottla.testing.simulation.network import Frame

NAME: Final = "registration"
_INTERVAL_MS: Final = 1000


class ControllerRegistrationPart:
    """One incarnation of a controller."""

    def __init__(self, metadata: MetadataPart) -> None:
        self._node = metadata.node
        self._metadata = metadata
        self._incarnation_id = Uuid(self._node.random.randbytes(16))
        self._next_ms = 0

    @property
    def deadline_ms(self) -> int:
        return self._next_ms

    def start(self) -> None:
        self._next_ms = self._node.clock.now_ms()

    def wake(self) -> None:
        self._next_ms = self._node.clock.now_ms() + _INTERVAL_MS
        image = self._metadata.loader.image
        version = image.features.metadata_version
        known = image.cluster.controllers.get(self._node.id)
        is_known = known is not None and known.incarnation_id == self._incarnation_id
        if version is not None and version.supports_controller_registration and not is_known:
            self._metadata.client.ask(self._request(), _ignore)

    def receive(self, frame: Frame) -> None:
        """Never called: the part gets no requests, and the metadata part gets the answers."""

    def _request(self) -> ControllerRegistrationRequest:
        return ControllerRegistrationRequest(
            controller_id=self._node.id,
            incarnation_id=self._incarnation_id,
            listeners=[Listener(name="CONTROLLER", host=self._node.host, port=9093)],
            features=[
                Feature(name=name, min_supported_version=levels.lowest, max_supported_version=levels.highest)
                for name, levels in supported_features().items()
            ],
        )


def _ignore(error: int, response: Any) -> None:
    """Drops an answer: a refused registration is sent again at the next interval."""
