"""The settings of decisions: defaults, and whether modes may change."""

from dataclasses import field

from ottla.base.frozen import frozen
from ottla.web.registry.decision.parsing import ParsedSchemas
from ottla.web.registry.state.config_value import ConfigValue


@frozen
class RegistryRule:
    """The settings and parsed schemas that all requests share."""

    parsed: ParsedSchemas = field(default_factory=ParsedSchemas)
    default_level: str = "BACKWARD"
    mode_changes: bool = True
    validate_new_schemas: bool = True

    def validates_new(self, config: ConfigValue) -> bool:
        """Whether new schemas are read strictly."""
        chosen = config.get("validateNewSchemas")
        return self.validate_new_schemas if chosen is None else bool(chosen)
