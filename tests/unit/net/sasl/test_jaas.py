import pytest

from ottla.base.config import ConfigError
from ottla.net.sasl.jaas import parse_jaas


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            'a.b.ScramLoginModule required\n  username="alice"\n  password="s3cret";',
            {"username": "alice", "password": "s3cret"},
        ),
        (r'a.b.PlainLoginModule REQUIRED username="a\"b" password="c\\d" ;', {"username": 'a"b', "password": r"c\d"}),
        ("a.b.OAuthBearerLoginModule required;", {}),
        ("a.b.Module required flag=true;", {"flag": "true"}),
    ],
)
def test_options_are_read(text: str, options: dict[str, str]) -> None:
    assert parse_jaas(text).options == options


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PlainLoginModule",
        'a.b.Module required username="alice"',
        "a.b.Module required username=;",
        "a required; b required;",
    ],
)
def test_what_is_malformed_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_jaas(text)
    assert "alice" not in str(caught.value)
    assert "sasl.username" in str(caught.value)
