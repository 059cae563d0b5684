"""The changes between two JSON Schemas that Confluent's registry tells apart, those of them that may break readers.

Changes that never break anything (a limit removed, a description changed) have no name here.
"""

import enum
from typing import Final

from ottla.schema.incompatibility import Incompatibility
from ottla.schema.policy import Policy


class Change(enum.Enum):
    """A change, by Confluent's name; its value says what to do about it."""

    SCHEMA_ADDED = "Leave this place without a schema: before, any value was allowed here."
    TYPE_NARROWED = "Keep the type number: documents may hold numbers with a fraction."
    TYPE_CHANGED = "Keep the type, or allow the old one beside the new one with anyOf."
    MAX_LENGTH_ADDED = "Remove maxLength: documents may hold longer strings."
    MAX_LENGTH_DECREASED = "Keep maxLength at least as high as it was."
    MIN_LENGTH_ADDED = "Remove minLength: documents may hold shorter strings."
    MIN_LENGTH_INCREASED = "Keep minLength at most as high as it was."
    PATTERN_ADDED = "Remove the pattern: documents may hold strings that do not match it."
    PATTERN_CHANGED = "Keep the pattern as it was."
    MAXIMUM_ADDED = "Remove the maximum: documents may hold larger numbers."
    MAXIMUM_DECREASED = "Keep the maximum at least as high as it was."
    MINIMUM_ADDED = "Remove the minimum: documents may hold smaller numbers."
    MINIMUM_INCREASED = "Keep the minimum at most as high as it was."
    EXCLUSIVE_MAXIMUM_ADDED = "Remove exclusiveMaximum: documents may hold larger numbers."
    EXCLUSIVE_MAXIMUM_DECREASED = "Keep exclusiveMaximum at least as high as it was."
    EXCLUSIVE_MINIMUM_ADDED = "Remove exclusiveMinimum: documents may hold smaller numbers."
    EXCLUSIVE_MINIMUM_INCREASED = "Keep exclusiveMinimum at most as high as it was."
    MULTIPLE_OF_ADDED = "Remove multipleOf: documents may hold other numbers."
    MULTIPLE_OF_EXPANDED = "Keep multipleOf, or divide it by a whole number."
    MULTIPLE_OF_CHANGED = "Keep multipleOf, or divide it by a whole number. "
    REQUIRED_ATTRIBUTE_ADDED = "Leave the property optional, or give it a default."
    MAX_PROPERTIES_ADDED = "Remove maxProperties: documents may hold more properties."
    MAX_PROPERTIES_DECREASED = "Keep maxProperties at least as high as it was."
    MIN_PROPERTIES_ADDED = "Remove minProperties: documents may hold fewer properties."
    MIN_PROPERTIES_INCREASED = "Keep minProperties at most as high as it was."
    ADDITIONAL_PROPERTIES_REMOVED = "Keep allowing additional properties: documents may hold some."
    ADDITIONAL_PROPERTIES_NARROWED = "Keep additionalProperties without a schema: documents may hold any."
    DEPENDENCY_ARRAY_ADDED = "Remove the dependency: documents may lack the properties it demands."
    DEPENDENCY_ARRAY_EXTENDED = "Keep the dependency as it was: documents may lack the properties it demands now."
    DEPENDENCY_ARRAY_CHANGED = "Keep the dependency as it was."
    DEPENDENCY_SCHEMA_ADDED = "Remove the dependent schema: documents may not fit it."
    REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = (
        "Leave the property out, or make the old schema closed first: documents may hold any value under its name."
    )
    REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL = (
        "Leave the property out, or check with the policy LENIENT: documents may hold any value under its name."
    )
    OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = (
        "Leave the property out, or check with the policy LENIENT: documents may hold any value under its name. "
    )
    REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL = "Make the new property optional, or give it a default."
    PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL = "Keep the property: documents may hold it, and no others are allowed."
    PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "Keep the property, or let the schema of additional properties allow what it allowed."
    )
    PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "Let the new property allow all that additional properties could be before."
    )
    UNEVALUATED_PROPERTIES_REMOVED = "Keep allowing unevaluated properties: documents may hold some."
    UNEVALUATED_PROPERTIES_NARROWED = "Keep unevaluatedProperties without a schema: documents may hold any."
    MAX_ITEMS_ADDED = "Remove maxItems: documents may hold longer lists."
    MAX_ITEMS_DECREASED = "Keep maxItems at least as high as it was."
    MIN_ITEMS_ADDED = "Remove minItems: documents may hold shorter lists."
    MIN_ITEMS_INCREASED = "Keep minItems at most as high as it was."
    MAX_CONTAINS_ADDED = "Remove maxContains: documents may hold more such items."
    MAX_CONTAINS_DECREASED = "Keep maxContains at least as high as it was."
    MIN_CONTAINS_ADDED = "Remove the demand for such items: documents may hold none."
    MIN_CONTAINS_INCREASED = "Keep minContains at most as high as it was."
    UNIQUE_ITEMS_ADDED = "Remove uniqueItems: documents may repeat items."
    ADDITIONAL_ITEMS_REMOVED = "Keep allowing additional items: documents may hold some."
    ADDITIONAL_ITEMS_NARROWED = "Keep additional items without a schema: documents may hold any."
    UNEVALUATED_ITEMS_REMOVED = "Keep allowing unevaluated items: documents may hold some."
    UNEVALUATED_ITEMS_NARROWED = "Keep unevaluatedItems without a schema: documents may hold any."
    ITEM_ADDED_TO_OPEN_CONTENT_MODEL = "Leave the item without a schema: documents may hold any value in its place."
    ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL = "Keep the item: documents may hold it, and no others are allowed."
    ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "Keep the item, or let the schema of additional items allow what it allowed."
    )
    ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = (
        "Let the new item allow all that additional items could be before."
    )
    ENUM_ARRAY_NARROWED = "Keep the values that were taken out: documents may hold them."
    ENUM_ARRAY_CHANGED = "Keep the values that were allowed: documents may hold them."
    COMBINED_TYPE_CHANGED = "Keep the keyword: only oneOf may become anyOf."
    PRODUCT_TYPE_EXTENDED = "Remove the schemas that were added to allOf: documents may not fit them."
    SUM_TYPE_NARROWED = "Keep the branches that were taken out: documents may fit only them."
    COMBINED_TYPE_SUBSCHEMAS_CHANGED = "Keep the branches: each old one needs a new one of its own that allows as much."
    NOT_TYPE_EXTENDED = "Let `not` forbid no more than it did: documents may hold what it forbids now."

    def __str__(self) -> str:
        return self.name


_LENIENT: Final = frozenset(
    {
        Change.ADDITIONAL_PROPERTIES_NARROWED,
        Change.ADDITIONAL_PROPERTIES_REMOVED,
        Change.UNEVALUATED_PROPERTIES_NARROWED,
        Change.UNEVALUATED_PROPERTIES_REMOVED,
        Change.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL,
        Change.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
        Change.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL,
        Change.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
        Change.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    }
)

ALLOWED: Final = {Policy.STRICT: frozenset[Change](), Policy.LENIENT: _LENIENT}
"""The changes that a policy lets pass."""


def incompatibility(change: Change, path: str) -> Incompatibility:
    """The change as a reason why documents of the old schema may not fit the new one."""
    return Incompatibility(
        rule=change.name,
        reader_path=path,
        writer_path=path,
        # The quotes do not match in Confluent's text either.
        message=f'{{errorType:"{change.name}", description:"{_description(change, path)}\'}}',
        advice=change.value.strip(),
    )


def _description(change: Change, path: str) -> str:
    for names, form in _FORMS:
        if change in names:
            return form.replace("{path}", path)
    return _LAST_FORMS.get(change, "").replace("{path}", path)


_KEYWORD = "The keyword at path '{path}' in the {reader} schema is not present in the {writer} schema"
_MORE = "The value at path '{path}' in the {reader} schema is more than its value in the {writer} schema"
_LESS = "The value at path '{path}' in the {reader} schema is less than its value in the {writer} schema"
_DIFFERENT = "The value at path '{path}' is different between the {reader} and {writer} schema"
_FEWER = "An array or combined type at path '{path}' has fewer elements in the {reader} schema than the {writer} schema"
_EXTENDED = (
    "An array or combined type at path '{path}' has more elements in the {reader} schema than the {writer} schema"
)
_TYPE = "A type at path '{path}' is different between the {reader} schema and the {writer} schema"
_OPEN = (
    "The {reader} schema has an open content model and has a property or item at path '{path}' which is missing in "
    "the {writer} schema"
)

_NARROWED: Final = frozenset(
    {
        Change.ADDITIONAL_ITEMS_NARROWED,
        Change.ENUM_ARRAY_NARROWED,
        Change.SUM_TYPE_NARROWED,
        Change.ADDITIONAL_PROPERTIES_NARROWED,
        Change.UNEVALUATED_PROPERTIES_NARROWED,
        Change.UNEVALUATED_ITEMS_NARROWED,
    }
)
_OPENED: Final = frozenset(
    {
        Change.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
        Change.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL,
        Change.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
        Change.ITEM_ADDED_TO_OPEN_CONTENT_MODEL,
    }
)
_TYPES: Final = frozenset(
    {
        Change.TYPE_CHANGED,
        Change.TYPE_NARROWED,
        Change.COMBINED_TYPE_CHANGED,
        Change.COMBINED_TYPE_SUBSCHEMAS_CHANGED,
        Change.ENUM_ARRAY_CHANGED,
    }
)
_VALUES: Final = frozenset({Change.PATTERN_CHANGED, Change.MULTIPLE_OF_CHANGED, Change.DEPENDENCY_ARRAY_CHANGED})
_LONGER: Final = frozenset(
    {
        Change.DEPENDENCY_ARRAY_EXTENDED,
        Change.PRODUCT_TYPE_EXTENDED,
        Change.NOT_TYPE_EXTENDED,
    }
)
_KEYWORDS: Final = frozenset(
    change
    for change in Change
    if change.name.endswith(("_ADDED", "_PROPERTIES_REMOVED", "_ITEMS_REMOVED")) and change is not Change.SCHEMA_ADDED
)
_RAISED: Final = frozenset(
    change for change in Change if change.name.endswith("_INCREASED") or change is Change.MULTIPLE_OF_EXPANDED
)
_LOWERED: Final = frozenset(change for change in Change if change.name.endswith("_DECREASED"))

_FORMS: Final = (
    (_KEYWORDS, _KEYWORD),
    (_RAISED, _MORE),
    (_LOWERED, _LESS),
    (_VALUES, _DIFFERENT),
    (_NARROWED, _FEWER),
    (_LONGER, _EXTENDED),
    (_TYPES, _TYPE),
    (_OPENED, _OPEN),
)

_MISSING_CLOSED = (
    "The {reader} has a closed content model and is missing a property or item present at path '{path}' in the "
    "{writer} schema"
)
_MISSING_UNCOVERED = (
    "A property or item is missing in the {reader} schema but present at path '{path}' in the {writer} schema and is "
    "not covered by its partially open content model"
)
_ADDED_UNCOVERED = (
    "The {reader} schema has a property or item at path '{path}' which is missing in the {writer} schema and is not "
    "covered by its partially open content model"
)

_LAST_FORMS: Final = {
    Change.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL: (
        "The {reader} schema has an unopen content model and has a required property at path '{path}' which is missing "
        "in the {writer} schema"
    ),
    Change.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL: _MISSING_CLOSED,
    Change.ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL: _MISSING_CLOSED,
    Change.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _MISSING_UNCOVERED,
    Change.ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _MISSING_UNCOVERED,
    Change.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _ADDED_UNCOVERED,
    Change.ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL: _ADDED_UNCOVERED,
}
