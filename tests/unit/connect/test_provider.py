"""Config providers: what placeholders stand for, and what may not be read."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ottla.connect.errors import InvalidConfigError
from ottla.connect.provider import ConfigProviders, EnvironmentProvider

PACKAGE = "org.apache.kafka.common.config.provider"


def providers(**more: str) -> ConfigProviders:
    settings = {
        "config.providers": "file, dir,env",
        "config.providers.file.class": f"{PACKAGE}.FileConfigProvider",
        "config.providers.dir.class": f"{PACKAGE}.DirectoryConfigProvider",
        "config.providers.env.class": "EnvVarConfigProvider",
    }
    return ConfigProviders.of(settings | {name.replace("__", "."): value for name, value in more.items()})


def test_a_file_a_directory_and_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secrets.properties").write_text("user=ann\npassword=x y\n")
    (tmp_path / "token").write_text("t\n")
    monkeypatch.setenv("OTTLA_TEST_HOST", "db")
    given = {
        "url": f"jdbc://${{env:OTTLA_TEST_HOST}}/${{file:{tmp_path}/secrets.properties:user}}",
        "password": f"${{file:{tmp_path}/secrets.properties:password}}",
        "token": f"${{dir:{tmp_path}:token}}",
        "plain": "a",
    }
    assert providers().resolve(given) == {"url": "jdbc://db/ann", "password": "x y", "token": "t\n", "plain": "a"}


def test_what_is_no_placeholder_of_ours_stays() -> None:
    given = {"format": "${topic}-${timestamp}", "other": "${vault:a:b}", "open": "${file"}
    assert providers().resolve(given) == given
    assert not any(providers().has_placeholder(value) for value in given.values())
    assert providers().has_placeholder("${env:A}")


def test_only_allowed_paths_are_read(tmp_path: Path) -> None:
    (tmp_path / "good").mkdir()
    for path in (tmp_path / "good" / "a", tmp_path / "b"):
        path.write_text("k=v")
    (tmp_path / "good" / "link").symlink_to(tmp_path / "b")
    found = providers(config__providers__file__param__allowed__paths=str(tmp_path / "good"))
    assert found.resolve({"x": f"${{file:{tmp_path}/good/a:k}}"}) == {"x": "v"}
    for outside in (f"{tmp_path}/b", f"{tmp_path}/good/../b", f"{tmp_path}/good/link"):
        with pytest.raises(InvalidConfigError, match=r"not below allowed\.paths"):
            found.resolve({"x": f"${{file:{outside}:k}}"})


def test_a_directory_gives_its_own_files_alone(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfigError, match="no file of the directory"):
        providers().resolve({"x": f"${{dir:{tmp_path}:../a}}"})


def test_only_allowed_variables_are_read() -> None:
    allowed = ConfigProviders(
        {"env": EnvironmentProvider({"allowlist.pattern": "APP_.*"}, {"APP_A": "1", "HOME": "2"})}
    )
    assert allowed.resolve({"x": "${env:APP_A}"}) == {"x": "1"}
    with pytest.raises(InvalidConfigError, match="not in the allow-list"):
        allowed.resolve({"x": "${env:HOME}"})


@pytest.mark.parametrize("value", ["${file:/no/such/file:a}", "${env:OTTLA_NO_SUCH}", "${env:a:b}", "${dir:/no:such}"])
def test_a_placeholder_that_stands_for_nothing_is_an_error_that_names_it(value: str) -> None:
    with pytest.raises(InvalidConfigError) as error:
        providers().resolve({"password": value})
    assert value in str(error.value)
    assert "password" in str(error.value)


class Vault:
    """Somebody's own."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._prefix = given["prefix"]

    def value(self, path: str, key: str) -> str:
        return f"{self._prefix}{path}/{key}"


def test_anybodys_class_is_a_provider() -> None:
    settings = {"config.providers": "v", "config.providers.v.class": f"{__name__}:Vault"}
    found = ConfigProviders.of({**settings, "config.providers.v.param.prefix": "kv:"})
    assert found.resolve({"password": "${v:db:pw}", "user": "${v:me}"}) == {"password": "kv:db/pw", "user": "kv:/me"}
    for name in ("no_such_module:X", f"{__name__}:providers", f"{__name__}:Path"):
        with pytest.raises(InvalidConfigError):
            ConfigProviders.of({**settings, "config.providers.v.class": name})


def test_no_allowed_paths_are_all_paths(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("k=v")
    found = providers(config__providers__file__param__allowed__paths="")
    assert found.resolve({"x": f"${{file:{tmp_path}/a:k}}"}) == {"x": "v"}


def test_a_provider_that_there_is_not_is_refused() -> None:
    with pytest.raises(InvalidConfigError, match=r"config\.providers\.vault\.class"):
        ConfigProviders.of({"config.providers": "vault", "config.providers.vault.class": "com.x.Vault"})
