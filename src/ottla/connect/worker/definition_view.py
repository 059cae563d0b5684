"""Definitions of settings and what is wrong with a configuration, as REST shows them."""

from collections.abc import Sequence
from typing import Any

from ottla.base.config import REQUIRED
from ottla.base.frozen import frozen
from ottla.connect.config.definition import ConfigKey, ConfigValue


@frozen
class Examined:
    """A setting: its definition, and the value that a configuration has."""

    key: ConfigKey | None
    """None for a setting that is only passed on."""
    value: ConfigValue


@frozen
class ConfigInfo:
    """All of a configuration."""

    name: str
    groups: tuple[str, ...]
    settings: tuple[Examined, ...]

    @property
    def error_count(self) -> int:
        """The number of errors."""
        return sum(len(each.value.errors) for each in self.settings)

    @property
    def errors(self) -> list[str]:
        """All of them."""
        return [error for each in self.settings for error in each.value.errors]

    def to_json(self) -> dict[str, object]:
        """The answer of `config/validate`."""
        configs = [{"definition": _definition(each.key), "value": _value(each.value)} for each in self.settings]
        return {"name": self.name, "error_count": self.error_count, "groups": list(self.groups), "configs": configs}


def key_json(key: ConfigKey) -> dict[str, Any]:
    """A definition."""
    is_required = key.default is REQUIRED
    return {
        "name": key.name,
        "type": key.type.name,
        "required": is_required,
        "default_value": None if is_required else key.default_text or key.render(key.default),
        "importance": key.importance.value,
        "documentation": key.doc,
        "group": key.group,
        "width": key.width.value,
        "display_name": key.display_name,
        "dependents": [],
        "order": key.order,
    }


def _definition(key: ConfigKey | None) -> dict[str, Any] | None:
    if key is None:
        return None
    shown = key_json(key)
    order = shown.pop("order")
    names: Sequence[str] = list(shown)
    after = names.index("group") + 1
    return {
        **{name: shown[name] for name in names[:after]},
        "order_in_group": order,
        **{name: shown[name] for name in names[after:]},
    }


def _value(value: ConfigValue) -> dict[str, Any]:
    return {
        "name": value.name,
        "value": value.value,
        "recommended_values": list(value.recommended),
        "errors": list(value.errors),
        "visible": value.visible,
    }
