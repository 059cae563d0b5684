"""The settings of the Protobuf converter that say what messages and schemas look like, by Confluent's names."""

from collections.abc import Mapping
from typing import Final

from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.connect.config.definition import ConfigKey, Importance

_PACKAGE: Final = "io.confluent.connect.protobuf"
UNION: Final = f"{_PACKAGE}.Union"
ENUM: Final = f"{_PACKAGE}.Enum"
TAG: Final = f"{_PACKAGE}.Tag"
TYPE: Final = f"{_PACKAGE}.Type"
WRAPPER: Final = f"{_PACKAGE}.Wrapper"
GENERAL_UNION: Final = "org.apache.kafka.connect.data.Union"
GENERAL_ENUM: Final = "org.apache.kafka.connect.data.Enum"
PRECISION: Final = "connect.decimal.precision"

_SETTINGS: Final = (
    ("generalized.sum.type.support", "generalizes", False, "Whether unions and enums have Connect's own names."),
    ("ignore.default.for.nullables", "ignores_defaults", False, "Whether a null stays null where there is a default."),
    ("enhanced.protobuf.schema.support", "keeps_packages", False, "Whether names of schemas have their package."),
    ("scrub.invalid.names", "scrubs_names", False, "Whether characters that names can't have are replaced."),
    ("int.for.enums", "enums_are_ints", False, "Whether enums are numbers."),
    ("optional.for.nullables", "labels_nullables", False, "Whether fields that may be null are `optional`."),
    ("optional.for.proto2", "knows_proto2_optional", True, "Whether proto2's `optional` fields may be null."),
    ("wrapper.for.nullables", "wraps_nullables", False, "Whether fields that may be null are wrapper messages."),
    ("wrapper.for.raw.primitives", "unwraps", True, "Whether wrapper messages are read as what they wrap."),
    ("generate.struct.for.nulls", "fills_nulls", False, "Whether messages that are not set become structs."),
    ("generate.index.for.unions", "numbers_unions", True, "Whether names of unions end with their number."),
    ("flatten.unions", "flattens_unions", False, "Whether fields of unions become fields of the struct around."),
)

OPTION_KEYS: Final = tuple(
    ConfigKey(name, ConfigType.BOOLEAN, default, doc, importance=Importance.MEDIUM)
    for name, _, default, doc in _SETTINGS
)


@frozen(kw_only=True)
class ProtobufOption:
    """The settings that decide how Connect's schemas and Protobuf's correspond."""

    generalizes: bool = False
    ignores_defaults: bool = False
    keeps_packages: bool = False
    scrubs_names: bool = False
    enums_are_ints: bool = False
    labels_nullables: bool = False
    knows_proto2_optional: bool = True
    wraps_nullables: bool = False
    unwraps: bool = True
    fills_nulls: bool = False
    numbers_unions: bool = True
    flattens_unions: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "ProtobufOption":
        """From the converter's settings.

        >>> ProtobufOption.of({"flatten.unions": True}).flattens_unions
        True
        """
        return cls(**{field: settings[name] is True for name, field, _, _ in _SETTINGS if name in settings})

    @property
    def enum_parameter(self) -> str:
        """The parameter of a schema that has an enum's name; behind it and a dot those that have its numbers."""
        return GENERAL_ENUM if self.generalizes else ENUM

    def name(self, name: str) -> str:
        """A name as Protobuf can have it, if names are to be scrubbed.

        >>> ProtobufOption(scrubs_names=True).name("1 a-b"), ProtobufOption().name("a-b")
        ('x1_a_b', 'a-b')
        """
        return _scrubbed(name) if self.scrubs_names else name


def _scrubbed(name: str) -> str:
    from urllib.parse import quote_plus

    if name.isascii() and name.isidentifier() and name[0] != "_":
        return name
    encoded = quote_plus(name, safe="*").replace("~", "%7E")
    if encoded[:1].isdigit() or encoded.startswith("_"):
        encoded = f"x{encoded}"
    return "".join(each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in encoded)
