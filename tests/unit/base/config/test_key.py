import re

import pytest

from ottla.base.config import REQUIRED, ConfigError, ConfigKey, ConfigKeys, Scope, Synonym
from ottla.base.config.check import Matching, NonEmpty, OneOf, Range, RangeOr, Satisfying
from ottla.base.config_type import ConfigType, Password

KEYS = ConfigKeys(
    (
        ConfigKey("node.id", ConfigType.INT, REQUIRED, check=Range(0)),
        ConfigKey("retention.ms", ConfigType.LONG, 7, synonyms=(Synonym("log.ms"), Synonym("log.hours", 3_600_000))),
        ConfigKey("log.hours", ConfigType.INT, None),
        ConfigKey("ratio", ConfigType.DOUBLE, 0.5, check=Range(0, 1)),
        ConfigKey("secret", ConfigType.PASSWORD, None, scope=Scope.CLIENT),
        ConfigKey("hidden", ConfigType.INT, 1, internal=True),
    )
)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (ConfigType.BOOLEAN, " TRUE ", True),
        (ConfigType.INT, " -5", -5),
        (ConfigType.LONG, "9223372036854775807", 2**63 - 1),
        (ConfigType.SHORT, "-32768", -32768),
        (ConfigType.DOUBLE, "0.25", 0.25),
        (ConfigType.LIST, " a, b ,c", ("a", "b", "c")),
        (ConfigType.LIST, "", ()),
        (ConfigType.STRING, " x ", "x"),
        (ConfigType.CLASS, "org.example.A", "org.example.A"),
    ],
)
def test_text_reads_as_the_value_it_stands_for(kind: ConfigType, text: str, value: object) -> None:
    assert kind.parse(text) == value
    rendered = kind.render(value)
    assert rendered is not None
    assert kind.parse(rendered) == value


@pytest.mark.parametrize(
    ("kind", "raw", "reason"),
    [
        (ConfigType.INT, "2147483648", "Not a number of type INT"),
        (ConfigType.SHORT, "32768", "Not a number of type SHORT"),
        (ConfigType.LONG, "", "Not a number of type LONG"),
        (ConfigType.LONG, "1.5", "Not a number of type LONG"),
        (ConfigType.LONG, "1_000", "Not a number of type LONG"),
        (ConfigType.INT, True, "Not a number of type INT"),
        (ConfigType.DOUBLE, "x", "Not a number of type DOUBLE"),
        (ConfigType.BOOLEAN, "yes", "Expected value to be either true or false"),
        (ConfigType.LIST, 5, "Expected a comma separated list."),
        (ConfigType.STRING, 5, "Expected value to be a string, but it was a int"),
    ],
)
def test_what_is_not_of_the_type_is_refused_with_kafkas_reason(kind: ConfigType, raw: object, reason: str) -> None:
    with pytest.raises(ValueError) as refused:
        kind.parse(raw)
    assert str(refused.value) == reason


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.5, "0.5"), (1.0, "1.0"), (1e7, "1.0E7"), (12345678.5, "1.23456785E7"), (0.0001, "1.0E-4"),
        (1.7976931348623157e308, "1.7976931348623157E308"), (-2.5e-7, "-2.5E-7"), (0.0, "0.0"),
    ],
)  # fmt: skip
def test_doubles_print_as_java_prints_them(number: float, text: str) -> None:
    assert ConfigType.DOUBLE.render(number) == text


def test_a_password_shows_itself_to_nobody() -> None:
    password = Password("hunter2")
    assert "hunter2" not in f"{password!r} {password} {password:>10} {[password]}"
    assert password.secret == "hunter2"
    with pytest.raises(ConfigError) as refused:
        ConfigKey("p", ConfigType.PASSWORD, check=Matching(re.compile("[0-9]+"), "digits", "no digits")).parse(
            "hunter2"
        )
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("check", "value", "reason"),
    [
        (Range(1), 0, "Value must be at least 1"),
        (Range(0, 1), 1.5, "Value must be no more than 1"),
        (Range(0, 1), float("nan"), "Value must be a number"),
        (RangeOr(1, 9, -1), 0, "Value must be between 1 and 9 or equal to -1"),
        (OneOf("a", "b"), "c", "String must be one of: a, b"),
        (OneOf("a", "b"), ("a", "c"), "String must be one of: a, b"),
        (NonEmpty(), "", "String must be non-empty"),
        (Satisfying(lambda value: value == 3, "three", "not three"), 4, "not three"),
    ],
)
def test_checks_refuse_with_kafkas_reason(check: object, value: object, reason: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ConfigKey("k", _type_of(value), check=check).parse(value)  # type: ignore[arg-type]
    assert refused.value.reason == reason
    assert refused.value.key == "k"


def test_an_error_names_key_value_and_reason() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value 2\.0 for configuration ratio: Value must be no more than 1"):
        KEYS.parse({"node.id": "1", "ratio": 2.0})


def test_given_values_synonyms_and_defaults_make_the_whole() -> None:
    parsed = KEYS.parse({"node.id": "1", "log.hours": "2", "log.ms": "5"})
    assert parsed.values["retention.ms"] == 5
    assert KEYS.parse({"node.id": "1", "log.hours": "2"}).values["retention.ms"] == 7_200_000
    assert KEYS.parse({"node.id": "1", "log.hours": "-1"}).values["retention.ms"] == -1
    assert KEYS.parse({"node.id": "1"}).values["retention.ms"] == 7
    assert KEYS.parse({"node.id": "1", "log.hours": "2", "retention.ms": "9"}).values["retention.ms"] == 9
    assert parsed.given == {"node.id", "log.hours"}


def test_a_required_key_must_be_given() -> None:
    with pytest.raises(ConfigError, match=r"node\.id: Missing required configuration which has no default value"):
        KEYS.parse({})


def test_unknown_keys_are_reported_with_the_nearest_name() -> None:
    [unknown, other] = KEYS.parse({"node.id": "1", "retention.mss": "1", "zzz": "1"}).unknown
    assert str(unknown) == "unknown configuration retention.mss (did you mean retention.ms?)"
    assert str(other) == "unknown configuration zzz"


def test_sets_of_keys_join_and_refuse_doubles() -> None:
    other = ConfigKeys((ConfigKey("other", ConfigType.INT, 1),))
    assert list(KEYS | other) == [*KEYS, "other"]
    with pytest.raises(ValueError, match="other is declared twice"):
        _ = other | other


def test_null_is_a_value_only_where_the_default_is_null() -> None:
    assert KEYS["log.hours"].parse(None) is None
    with pytest.raises(ConfigError, match="entry must be non null"):
        KEYS["ratio"].parse(None)


def _type_of(value: object) -> ConfigType:
    if isinstance(value, tuple):
        return ConfigType.LIST
    if isinstance(value, str):
        return ConfigType.STRING
    return ConfigType.DOUBLE if isinstance(value, float) else ConfigType.INT
