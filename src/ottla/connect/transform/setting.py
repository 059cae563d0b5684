"""Settings that several transforms share."""

from typing import Final

from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigKey, Importance

REPLACE_NULL: Final = ConfigKey(
    "replace.null.with.default",
    ConfigType.BOOLEAN,
    True,
    "Whether a null field that has a default counts as the default (true), or stays null.",
)


def text_list(value: object) -> list[str]:
    """A parsed setting of type LIST."""
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def optional_text(value: object) -> str | None:
    """A parsed setting of type STRING."""
    return None if value is None else str(value)


HIGH: Final = Importance.HIGH
