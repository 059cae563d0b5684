import asyncio
import base64
import json
import time
from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import AuthenticationFailedError
from ottla.client.security.token_source import Token, TokenSource, token_of


def settings(**given: object) -> ClientSettings:
    return ClientSettings.of(ADMIN_KEYS, bootstrap_servers="a:1", **given)


def jwt(**claims: object) -> str:
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({}, claims)]
    return f"{parts[0]}.{parts[1]}.signature"


def tokens(source_settings: ClientSettings, count: int = 1, options: dict[str, str] | None = None) -> list[str]:
    async def get() -> list[str]:
        source = TokenSource(source_settings, options or {})
        return [await source.token() for _ in range(count)]

    return asyncio.run(get())


async def coroutine_token() -> str:
    return "from a coroutine"


@pytest.mark.parametrize(
    ("handler", "token"),
    [
        (lambda: "from a function", "from a function"),
        (coroutine_token, "from a coroutine"),
        (lambda: coroutine_token(), "from a coroutine"),
        (lambda: Token("from a token", 1.0), "from a token"),
        (f"{__name__}:coroutine_token", "from a coroutine"),
    ],
)
def test_the_users_callable_gives_tokens(handler: object, token: str) -> None:
    assert tokens(settings(sasl_login_callback_handler_class=handler)) == [token]


def test_a_callable_that_gives_something_else_is_refused() -> None:
    with pytest.raises(AuthenticationFailedError, match="returned NoneType"):
        tokens(settings(sasl_login_callback_handler_class=lambda: None))


def test_a_token_is_used_until_most_of_its_life_is_over() -> None:
    given: list[str] = []

    def give(life_s: float) -> str:
        given.append(jwt(exp=time.time() + life_s, jti=len(given)))
        return given[-1]

    long_lived = tokens(settings(sasl_login_callback_handler_class=lambda: give(3600)), 2)
    assert long_lived[0] == long_lived[1]
    over = tokens(settings(sasl_login_callback_handler_class=lambda: give(-1)), 2)
    assert over[0] != over[1]
    unknown_life = tokens(settings(sasl_login_callback_handler_class=lambda: give(1).replace(".", "")), 2)
    assert unknown_life[0] != unknown_life[1]


def test_the_end_of_a_token_is_read_from_it() -> None:
    assert token_of(jwt(exp=12.5)).expires_at == 12.5
    assert token_of(jwt()).expires_at is None
    assert token_of("a.b.c").expires_at is None


def test_a_file_may_hold_the_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("from-a-file\n")
    assert tokens(settings(sasl_oauthbearer_token_endpoint_url=path.as_uri())) == ["from-a-file"]
    path.write_text("")
    with pytest.raises(AuthenticationFailedError, match="the file is empty"):
        tokens(settings(sasl_oauthbearer_token_endpoint_url=path.as_uri()))


def test_an_unsigned_token_for_trials() -> None:
    options = {"unsecuredLoginStringClaim_sub": "alice", "unsecuredLoginNumberClaim_age": "3"}
    header, claims, signature = tokens(settings(), 1, options)[0].split(".")
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {"alg": "none"}
    read = json.loads(base64.urlsafe_b64decode(claims + "=="))
    assert (read["sub"], read["age"]) == ("alice", 3)
    assert read["exp"] - read["iat"] == pytest.approx(3600)
    assert signature == ""


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "where tokens come from must be said"),
        ({"sasl.oauthbearer.token.endpoint.url": "ftp://x"}, "Expected https://"),
        ({"sasl.oauthbearer.token.endpoint.url": "https://x"}, "id and secret are needed"),
        ({"sasl.login.callback.handler.class": object()}, "Expected a callable"),
    ],
)
def test_settings_without_a_source_are_refused(given: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        tokens(ClientSettings.of(ADMIN_KEYS, {"bootstrap.servers": "a:1", **given}))
