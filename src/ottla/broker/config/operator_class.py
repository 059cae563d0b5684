"""Classes that operators write in Python and name in a node's settings: `module:Class`.

A name that leads to no such class refuses the start: a rule that is not kept is worse than none.
"""

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from ottla.base.config import ConfigError


class GivenSettings(Protocol):
    """The part of a node's config that is used here."""

    @property
    def given(self) -> Mapping[str, str]:
        """The settings of the file."""

    def optional_string(self, name: str) -> str | None:
        """The value of a key that may have none."""
        ...


class OperatorClass(NamedTuple):
    """A setting that may name such a class."""

    key: str
    methods: tuple[str, ...]
    """The class must have one of them."""
    advice: str
    """The advice where there is no such class, after "no such Python class (…); "."""

    def find(self, named: str | None) -> Any:
        """The class that a name stands for; None without a name. Raises `ConfigError`."""
        if not named:
            return None
        module_name, _, class_name = named.rpartition(":" if ":" in named else ".")
        try:
            found = getattr(importlib.import_module(module_name), class_name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(self.key, named, f"no such Python class ({error}); {self.advice}") from error
        if not any(callable(getattr(found, method, None)) for method in self.methods):
            raise ConfigError(self.key, named, f"the class has no method {' or '.join(self.methods)}")
        return found

    def make(self, named: str | None, given: Mapping[str, str]) -> Any:
        """An object of the class that knows the node's settings; None without a name. Raises `ConfigError`."""
        found = self.find(named)
        if found is None:
            return None
        try:
            made = found()
            if hasattr(made, "configure"):
                made.configure(dict(given))
        except Exception as error:  # An operator's code: the start is refused with its reason.
            raise ConfigError(self.key, named, f"it cannot be made: {error!r}") from error
        return made
