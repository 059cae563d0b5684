"""What every processor context says of its application: ids, configuration, default serdes."""

from collections.abc import Mapping
from typing import Any, Final

from ottla.streams.serde import Serde


class ContextSettings:
    """The part of a `ProcessorContext` that is the same for all records."""

    def __init__(self, configuration: Mapping[str, Any], application_id: str, task_id: str) -> None:
        self._configuration: Final = configuration
        self._application_id: Final = application_id
        self._task_id: Final = task_id

    def application_id(self) -> str:
        """The application's id."""
        return self._application_id

    def task_id(self) -> str:
        """Sub-topology and partition, as in `0_3`."""
        return self._task_id

    def app_configs(self) -> dict[str, Any]:
        """The application's configuration."""
        return dict(self._configuration)

    def app_configs_with_prefix(self, prefix: str) -> dict[str, Any]:
        """The settings that begin like this, without it."""
        found = self._configuration.items()
        return {name.removeprefix(prefix): value for name, value in found if name.startswith(prefix)}

    def key_serde(self) -> Serde[Any] | None:
        """The serde of keys that the configuration names."""
        return self._configuration.get("default.key.serde")

    def value_serde(self) -> Serde[Any] | None:
        """The serde of values that the configuration names."""
        return self._configuration.get("default.value.serde")
