"""Conflicts between settings that are each valid by themselves."""

from ottla.base.config import ConfigError


class ConfigConflictError(ConfigError):
    """Settings that don't go together: the reason is a sentence of its own."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(key, None, reason)
        self.args = (reason,)
