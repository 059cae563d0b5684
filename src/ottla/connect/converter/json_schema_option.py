"""The settings of the JSON Schema converter, by Confluent's names; those that it does not have are refused."""

from collections.abc import Mapping
from typing import Final

from ottla.base.config_type import ConfigType
from ottla.base.frozen import frozen
from ottla.connect.config.definition import ConfigKey, Importance
from ottla.connect.config.validator import AnyOfIgnoringCase, Sentence

_NOT_THERE: Final = Sentence(lambda value: None if value in (False, None) else "There is only false", "false")
_ONLY_TRUE: Final = Sentence(lambda value: None if value in (True, None) else "There is only true", "true")

JSON_OPTION_KEYS: Final = (
    ConfigKey("decimal.format", ConfigType.STRING, "BASE64", "How decimals are written: BASE64 or NUMERIC.",
              importance=Importance.LOW, validator=AnyOfIgnoringCase("BASE64", "NUMERIC")),
    ConfigKey("ignore.default.for.nullables", ConfigType.BOOLEAN, False,
              "Whether a null stays null where there is a default.", importance=Importance.MEDIUM),
    ConfigKey("object.additional.properties", ConfigType.BOOLEAN, True,
              "Whether objects may have properties that the schema does not name.", importance=Importance.MEDIUM),
    ConfigKey("use.optional.for.nonrequired", ConfigType.BOOLEAN, False,
              "Properties that are not required may be null, whatever this says.", importance=Importance.MEDIUM),
    ConfigKey("ignore.modern.dialects", ConfigType.BOOLEAN, False, "Schemas name no dialect, whatever this says.",
              importance=Importance.LOW),
    ConfigKey("generalized.sum.type.support", ConfigType.BOOLEAN, False, "Only false.", importance=Importance.MEDIUM,
              validator=_NOT_THERE),
    ConfigKey("preserve.additional.properties", ConfigType.BOOLEAN, False, "Only false.",
              importance=Importance.MEDIUM, validator=_NOT_THERE),
    ConfigKey("flatten.singleton.unions", ConfigType.BOOLEAN, True, "Only true.", importance=Importance.LOW,
              validator=_ONLY_TRUE),
)  # fmt: skip


@frozen(kw_only=True)
class JsonSchemaOption:
    """The settings that decide how Connect's schemas and JSON Schema's correspond."""

    numeric_decimals: bool = False
    ignores_defaults: bool = False
    closes_objects: bool = False

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> "JsonSchemaOption":
        """From the converter's parsed settings.

        >>> JsonSchemaOption.of({"decimal.format": "numeric"}).numeric_decimals
        True
        """
        return cls(
            numeric_decimals=str(settings.get("decimal.format", "")).upper() == "NUMERIC",
            ignores_defaults=settings.get("ignore.default.for.nullables") is True,
            closes_objects=settings.get("object.additional.properties") is False,
        )
