"""Which settings and modes are in force."""

import pytest

from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.configure import delete_config, delete_mode, parse_config_request
from ottla.web.registry.decision.scope import config_in_scope, mode_in_scope, own_config, own_mode
from ottla.web.registry.state.mode import Mode
from tests.unit.web.registry.driven import Driven

LEVEL = "compatibilityLevel"


def level(registry: Driven, subject: str | None) -> object:
    return config_in_scope(registry.state, subject, "BACKWARD")[LEVEL]


def test_the_narrowest_scope_wins() -> None:
    registry = Driven()
    assert (level(registry, None), level(registry, "a"), level(registry, ":.c:a")) == ("BACKWARD",) * 3
    registry.configure(":.__GLOBAL:", compatibility="full")
    assert (level(registry, None), level(registry, "a"), level(registry, ":.c:a")) == ("FULL",) * 3
    registry.configure(None, compatibility="forward")
    assert (level(registry, None), level(registry, "a"), level(registry, ":.c:a")) == ("FORWARD", "FORWARD", "FULL")
    registry.configure(":.c:", compatibility="none")
    registry.configure("a", compatibility="full_transitive")
    assert (level(registry, "a"), level(registry, ":.c:a")) == ("FULL_TRANSITIVE", "NONE")


def test_a_subject_inherits_some_fields_and_not_the_level() -> None:
    registry = Driven()
    registry.configure(None, compatibility="FULL", normalize=True)
    registry.configure("a", compatibilityGroup="major")
    assert config_in_scope(registry.state, "a", "BACKWARD") == {
        "normalize": True,
        LEVEL: "BACKWARD",
        "compatibilityGroup": "major",
    }
    assert own_config(registry.state, "b", "BACKWARD") is None


def test_a_change_leaves_what_it_does_not_name_and_null_removes() -> None:
    registry = Driven()
    registry.configure("a", compatibility="FULL", alias="b")
    registry.configure("a", normalize=True, alias=None)
    assert registry.state.configs["a"] == {"normalize": True, LEVEL: "FULL"}
    assert registry.take(delete_config(registry.state, registry.rule, "a")) == {"normalize": True, LEVEL: "FULL"}
    with pytest.raises(HttpError) as refused:
        delete_config(registry.state, registry.rule, "a")
    assert refused.value.error_code == 40401


@pytest.mark.parametrize(
    ("body", "error_code"),
    [
        (None, 422),
        ([], 422),
        ({"compatibility": "SIDEWAYS"}, 42203),
        ({"compatibility": 5}, 42203),
        ({"normalize": "yes"}, 400),
        ({"defaultRuleSet": {"domainRules": [{"name": "", "type": "CEL"}]}}, 42210),
        ({"defaultMetadata": 5}, 422),
    ],
)
def test_settings_that_can_not_be(body: object, error_code: int) -> None:
    with pytest.raises(HttpError) as refused:
        parse_config_request(body)
    assert refused.value.error_code == error_code


def test_modes_of_scopes() -> None:
    registry = Driven()
    assert (own_mode(registry.state, None), own_mode(registry.state, "a")) == (Mode.READWRITE, None)
    registry.set_mode(None, Mode.READONLY)
    registry.set_mode(":.c:a", Mode.READWRITE)
    registry.set_mode(":.c:", Mode.IMPORT)
    modes = [mode_in_scope(registry.state, each) for each in ("a", ":.c:a", ":.c:b", ":.d:a")]
    assert modes == [Mode.READONLY, Mode.READWRITE, Mode.IMPORT, Mode.READWRITE]
    registry.take(delete_mode(registry.state, registry.rule, ":.c:", recursive=True))
    assert dict(registry.state.modes) == {None: Mode.READONLY}
