"""The settings of the Avro converter that say what schemas look like, and the words that stand in them, by Confluent's
names.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote_plus

from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.connect.config.definition import ConfigKey, Importance
from ottla.connect.data.schema import Schema
from ottla.connect.data.type import Type

PACKAGE: Final = "io.confluent.connect.avro"
UNION: Final = f"{PACKAGE}.Union"
ENUM: Final = f"{PACKAGE}.Enum"
DEFAULT_NAME: Final = f"{PACKAGE}.ConnectDefault"
MAP_ENTRY: Final = "MapEntry"
INTERNAL_TYPE: Final = "connect.internal.type"
RECORD_DOC: Final = f"{PACKAGE}.record.doc"
FIELD_DOC: Final = f"{PACKAGE}.field.doc."
ENUM_DOC: Final = f"{PACKAGE}.enum.doc."
ENUM_DEFAULT: Final = f"{PACKAGE}.enum.default."
FIELD_DEFAULT: Final = f"{PACKAGE}.field.default"
"""Says that a default was a field's in the Avro schema, and needs no `connect.default`."""
FIXED_SIZE: Final = "connect.fixed.size"
PRECISION: Final = "connect.decimal.precision"
PRECISION_DEFAULT: Final = 64
GENERAL_UNION: Final = "org.apache.kafka.connect.data.Union"
GENERAL_ENUM: Final = "org.apache.kafka.connect.data.Enum"

_SETTINGS: Final = (
    ("generalized.sum.type.support", "generalizes", False, "Whether unions and enums have Connect's own names."),
    ("ignore.default.for.nullables", "ignores_defaults", False, "Whether a null stays null where there is a default."),
    ("enhanced.avro.schema.support", "enhances", False, "Whether enums stay enums, and unions name whole packages."),
    ("scrub.invalid.names", "scrubs_names", False, "Whether characters that names can't have are replaced."),
    ("connect.meta.data", "annotates", True, "Whether schemas have what Avro has no place for."),
    ("discard.type.doc.default", "discards_docs", False, "Whether fields alone have docs and defaults."),
    ("allow.optional.map.keys", "maps_optional_keys", False, "Whether maps with optional text keys are Avro's maps."),
    ("flatten.singleton.unions", "flattens_singletons", True, "Whether a union of one type is that type."),
)

AVRO_OPTION_KEYS: Final = tuple(
    ConfigKey(name, ConfigType.BOOLEAN, default, doc, importance=Importance.MEDIUM)
    for name, _, default, doc in _SETTINGS
)


@frozen(kw_only=True)
class AvroOption:
    """The settings that decide how Connect's schemas and Avro's correspond."""

    generalizes: bool = False
    ignores_defaults: bool = False
    enhances: bool = False
    scrubs_names: bool = False
    annotates: bool = True
    discards_docs: bool = False
    maps_optional_keys: bool = False
    flattens_singletons: bool = True

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "AvroOption":
        """From the converter's settings.

        >>> AvroOption.of({"connect.meta.data": False}).annotates
        False
        """
        return cls(**{field: settings[name] is True for name, field, _, _ in _SETTINGS if name in settings})

    @property
    def enum_parameter(self) -> str:
        """The parameter of a schema that has an enum's name; behind it and a dot those that have its symbols."""
        return GENERAL_ENUM if self.generalizes else ENUM

    def name(self, name: str) -> str:
        """A simple name as Avro can have it, if names are to be scrubbed.

        >>> AvroOption(scrubs_names=True).name("1 a-b"), AvroOption().name("a-b")
        ('x1_a_b', 'a-b')
        """
        return _scrubbed(name) if self.scrubs_names else name

    def full_name(self, name: str) -> str:
        """A name with its namespace as Avro can have it, if names are to be scrubbed."""
        return ".".join(self.name(part) for part in name.split("."))

    def is_enum(self, schema: Schema) -> bool:
        """Whether a text is written as an enum."""
        return (
            (self.generalizes or self.enhances)
            and schema.type is Type.STRING
            and self.enum_parameter in (schema.parameters or {})
        )

    def is_avro_map(self, schema: Schema) -> bool:
        """Whether a map is one of Avro's, whose keys are text, and not a list of entries."""
        keys = schema.key_schema
        return keys is not None and keys.type is Type.STRING and (not keys.optional or self.maps_optional_keys)


def is_union(schema: Schema) -> bool:
    """Whether a struct stands for a union: each field is one of its types."""
    return schema.type is Type.STRUCT and (schema.name == UNION or GENERAL_UNION in (schema.parameters or {}))


def fixed_size(schema: Schema) -> int | None:
    """The length of bytes that are all of one length."""
    found = (schema.parameters or {}).get(FIXED_SIZE)
    return int(found) if schema.type is Type.BYTES and schema.name is not None and found is not None else None


def _scrubbed(name: str) -> str:
    if not name or (name.isascii() and name.isidentifier()):
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    encoded = f"x{encoded}" if encoded[:1].isdigit() else encoded
    return "".join(each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in encoded)
