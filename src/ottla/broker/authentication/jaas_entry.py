"""Where a node finds its login modules: in its settings, else in the JAAS file that `KAFKA_OPTS` names.

`listener.name.<listener>.<mechanism>.sasl.jaas.config` wins; then comes the section `<listener>.KafkaServer` of the
file, then `KafkaServer`, and of several modules there the one that belongs to the mechanism.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ottla.base.config import ConfigError
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.net.sasl.jaas import JaasConfig, JaasError, parse_entry, parse_file

_KEY: Final = "sasl.jaas.config"
_SECTION: Final = "KafkaServer"
_PROPERTY: Final = "java.security.auth.login.config"
_OPTION: Final = re.compile(rf"-D{re.escape(_PROPERTY)}==?(\"[^\"]*\"|'[^']*'|\S+)")
_MODULES: Final = {
    "PLAIN": "PlainLoginModule",
    "SCRAM-SHA-256": "ScramLoginModule",
    "SCRAM-SHA-512": "ScramLoginModule",
    "OAUTHBEARER": "OAuthBearerLoginModule",
}
_NOTHING: Final = JaasConfig("", {})


class JaasEntries:
    """The login modules of a node."""

    def __init__(self, sections: Mapping[str, list[JaasConfig]]) -> None:
        self._sections: Final = sections

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> "JaasEntries":
        """With the file that `KAFKA_OPTS` names, if it does. Raises `ConfigError`."""
        path = jaas_path(environment.get("KAFKA_OPTS", ""))
        return cls({} if path is None else read_file(path))

    def find(self, settings: ListenerSettings, mechanism: str) -> JaasConfig:
        """The entry of a mechanism on a listener; one without options if there is none. Raises `ConfigError`."""
        own = settings.of_mechanism(mechanism, _KEY)
        if own is not None:
            try:
                return parse_entry(own[1])
            except JaasError as error:
                raise ConfigError(own[0], "***", str(error)) from None
        for section in (f"{settings.name.lower()}.{_SECTION}", _SECTION):
            for entry in self._sections.get(section, ()):
                if entry.module.rpartition(".")[2] == _MODULES.get(mechanism):
                    return entry
        return _NOTHING


def jaas_path(options: str) -> Path | None:
    """The file that the JVM's options name.

    >>> jaas_path("-Xmx1g -Djava.security.auth.login.config=/etc/kafka/jaas.conf")
    PosixPath('/etc/kafka/jaas.conf')
    """
    found = _OPTION.search(options)
    return None if found is None else Path(found[1].strip("\"'"))


def read_file(path: Path) -> dict[str, list[JaasConfig]]:
    """The sections of a file. Raises `ConfigError`, with line and column."""
    try:
        return parse_file(path.read_text())
    except OSError as error:
        raise ConfigError(_PROPERTY, path, f"the file can't be read: {error.strerror}") from error
    except JaasError as error:
        raise ConfigError(_PROPERTY, path, str(error)) from None
