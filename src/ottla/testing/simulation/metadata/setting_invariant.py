"""The invariants of features, quotas, SCRAM users and ACLs."""

from typing import ClassVar

from ottla.testing.simulation.cluster import Cluster
from ottla.testing.simulation.invariant import Invariant
from ottla.testing.simulation.metadata.history import MetadataHistory, PublishedImage
from ottla.testing.simulation.metadata.setting import settings_of
from ottla.testing.simulation.node import SimulatedNode


class SettingsMatchLog(Invariant):
    """Images have the features, quotas, SCRAM users and ACLs that the records up to there say, and no others."""

    name: ClassVar[str] = "SettingsMatchLog"

    def compare(self, one: PublishedImage) -> None:
        """Compares an image with the model, if that stood at the same place when the image was published."""
        if one.settings is None:
            return
        found = settings_of(one.image)
        if found != one.settings:
            wrong = {key: (one.settings.get(key), found.get(key)) for key in {*found, *one.settings}}
            differing = {key: values for key, values in wrong.items() if values[0] != values[1]}
            raise self.fail(f"node {one.node_id} at {one.image.provenance}, the log's and its own: {differing}")


class NoAnsweredSettingLost(Invariant):
    """A change that a client was told of is in the committed log."""

    name: ClassVar[str] = "NoAnsweredSettingLost"

    def __init__(self, history: MetadataHistory) -> None:
        self._history = history

    def check(self, cluster: Cluster, node: SimulatedNode) -> None:
        if not self._history.answered_settings:
            return
        answered, self._history.answered_settings = self._history.answered_settings, []
        for key, value in answered:
            if not self._history.settings.was(key, value):
                raise self.fail(f"{key} was set to {value}, as somebody was told, but never is")
