"""The errors of schemas and of the metadata and rules that travel with them."""

from ottla.base.errors import OttlaError


class InvalidSchemaError(OttlaError):
    """A text is no schema of its type, or uses a reference that is not there.

    `path` leads to the place in the text: `/fields/1/type`, `#/properties/a`, `Order.id`; empty when it is the whole.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


class InvalidMetadataError(OttlaError):
    """JSON that should be metadata or a rule set has another shape; `path` is like `ruleSet.domainRules[0].mode`."""

    def __init__(self, message: str, path: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


class InvalidRuleError(OttlaError):
    """A rule that no client could run: the registry's error 42210. `rule_name` is empty when the name is what lacks."""

    def __init__(self, message: str, rule_name: str = "") -> None:
        super().__init__(message)
        self.rule_name = rule_name


class UnknownLevelError(OttlaError):
    """A text names no compatibility level: the registry's error 42203."""


class InvalidValueError(OttlaError):
    """A value, or its bytes, don't fit the schema that they should follow."""
