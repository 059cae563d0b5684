"""The settings of a scope, as stored: the fields that were set, under the API's names, already checked."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

ConfigValue: TypeAlias = Mapping[str, Any]
"""Field by name; what is not set is absent."""

COMPATIBILITY: Final = "compatibilityLevel"
FIELDS: Final = (
    "alias",
    "aliasForDeks",
    "normalize",
    "validateFields",
    "validateNewSchemas",
    "validateRules",
    COMPATIBILITY,
    "compatibilityPolicy",
    "compatibilityGroup",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
)
"""In the order of records and answers."""
INHERITED: Final = (
    "normalize",
    "validateFields",
    "validateNewSchemas",
    "validateRules",
    "compatibilityPolicy",
    "compatibilityGroup",
)
"""The fields that a subject's settings inherit from the global ones."""


def ordered(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Known fields that are set, in order."""
    return {name: fields[name] for name in FIELDS if fields.get(name) is not None}
