"""The JAAS file that Java would be started with: `KAFKA_OPTS=-Djava.security.auth.login.config=FILE`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.base.config import ConfigError
from ottla.net.sasl.jaas import JaasConfig, JaasError, parse_file

_PROPERTY: Final = "java.security.auth.login.config"
_OPTION: Final = re.compile(rf"-D{re.escape(_PROPERTY)}==?(\"[^\"]*\"|'[^']*'|\S+)")
_ALLOWED: Final = re.compile(r"-Dorg\.apache\.kafka\.sasl\.oauthbearer\.allowed\.urls=(\"[^\"]*\"|'[^']*'|\S+)")
_MODULES: Final = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
    "GSSAPI": "Krb5LoginModule",
}


def sections_of_environment(environment: Mapping[str, str]) -> dict[str, list[JaasConfig]]:
    """The sections of the file that `KAFKA_OPTS` names, if it does. Raises `ConfigError`."""
    path = jaas_path(environment.get("KAFKA_OPTS", ""))
    return {} if path is None else read_file(path)


def is_for(entry: JaasConfig, mechanism: str) -> bool:
    """Whether a login module is the one of a mechanism."""
    return entry.module.rpartition(".")[2] == _MODULES.get(mechanism)


def jaas_path(options: str) -> Path | None:
    """The file that the JVM's options name; of several the last, as in Java.

    >>> jaas_path("-Xmx1g -Djava.security.auth.login.config=/etc/kafka/jaas.conf")
    PosixPath('/etc/kafka/jaas.conf')
    """
    found = _OPTION.findall(options)
    return Path(found[-1].strip("\"'")) if found else None


def allowed_urls(environment: Mapping[str, str]) -> frozenset[str] | None:
    """The places that the JVM's options in `KAFKA_OPTS` restrict OAuth to; None if they say nothing.

    >>> allowed_urls({"KAFKA_OPTS": "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a/keys"})
    frozenset({'https://a/keys'})
    """
    found = _ALLOWED.search(environment.get("KAFKA_OPTS", ""))
    return None if found is None else frozenset(url.strip() for url in found[1].strip("\"'").split(","))


def read_file(path: Path) -> dict[str, list[JaasConfig]]:
    """The sections of a file. Raises `ConfigError`, with line and column."""
    try:
        return parse_file(path.read_text())
    except OSError as error:
        raise ConfigError(_PROPERTY, path, f"the file can't be read: {error.strerror}") from error
    except JaasError as error:
        raise ConfigError(_PROPERTY, path, str(error)) from None
