"""Settings that refer to a file, a directory or the environment."""

from pathlib import Path

import pytest

from ottla.base.config import ConfigError
from ottla.broker.config.provider import resolve

PACKAGE = "org.apache.kafka.common.config.provider"


def _with(name: str, provider: str, **settings: str) -> dict[str, str]:
    return {
        "config.providers": name,
        f"config.providers.{name}.class": f"{PACKAGE}.{provider}",
        **{key.replace("_", "."): value for key, value in settings.items()},
    }


def test_a_variable_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACK", "r${1}")
    assert resolve(_with("env", "EnvVarConfigProvider", broker_rack="a-${env:RACK}"))["broker.rack"] == "a-r${1}"


def test_variables_that_are_not_allowed_stay_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RACK", "r")
    given = _with("env", "EnvVarConfigProvider", broker_rack="${env:RACK}")
    given["config.providers.env.param.allowlist.pattern"] = "OTHER.*"
    assert resolve(given)["broker.rack"] == "${env:RACK}"


def test_a_key_of_a_properties_file(tmp_path: Path) -> None:
    (tmp_path / "secrets").write_text("password=p w\nother=x\n")
    given = _with("file", "FileConfigProvider", ssl_key_password=f"${{file:{tmp_path}/secrets:password}}")
    assert resolve(given)["ssl.key.password"] == "p w"


def test_a_file_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("secret")
    given = _with("dir", "DirectoryConfigProvider", ssl_key_password=f"${{dir:{tmp_path}:password}}")
    assert resolve(given)["ssl.key.password"] == "secret"
    assert "${dir:" in resolve(given | {"ssl.key.password": f"${{dir:{tmp_path}:../x}}"})["ssl.key.password"]


def test_files_outside_the_allowed_paths_are_refused(tmp_path: Path) -> None:
    given = _with("file", "FileConfigProvider", broker_rack="${file:/etc/hostname:a}")
    given["config.providers.file.param.allowed.paths"] = str(tmp_path)
    with pytest.raises(ConfigError, match=r"not within allowed\.paths"):
        resolve(given)


def test_a_missing_file_is_an_error_and_a_missing_key_is_none(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="could not read"):
        resolve(_with("file", "FileConfigProvider", broker_rack=f"${{file:{tmp_path}/none:a}}"))
    (tmp_path / "some").write_text("b=1\n")
    text = f"${{file:{tmp_path}/some:a}}"
    assert resolve(_with("file", "FileConfigProvider", broker_rack=text))["broker.rack"] == text


def test_references_to_nothing_known_stay_as_they_are() -> None:
    assert resolve({"broker.rack": "${vault:a:b} $x ${y}"}) == {"broker.rack": "${vault:a:b} $x ${y}"}


def test_providers_that_nothing_can_run_are_refused() -> None:
    with pytest.raises(ConfigError, match="there are only"):
        resolve({"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"})
    with pytest.raises(ConfigError, match=r"config\.providers\.vault\.class is missing"):
        resolve({"config.providers": "vault"})
