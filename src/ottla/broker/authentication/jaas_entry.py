"""Finds a node's login modules: in its settings, else in the JAAS file that `KAFKA_OPTS` names.

`listener.name.<listener>.<mechanism>.sasl.jaas.config` wins; then comes the section `<listener>.KafkaServer` of the
file, then `KafkaServer`, and of several modules there the one that belongs to the mechanism.
"""

from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigError
from ottla.broker.authentication.listener_setting import ListenerSettings
from ottla.net.sasl.jaas import JaasConfig, JaasError, parse_entry
from ottla.net.sasl.jaas_file import is_for, sections_of_environment

_KEY: Final = "sasl.jaas.config"
_SECTION: Final = "KafkaServer"
_NOTHING: Final = JaasConfig("", {})


class JaasEntries:
    """The login modules of a node."""

    def __init__(self, sections: Mapping[str, list[JaasConfig]]) -> None:
        self._sections: Final = sections

    @classmethod
    def of_environment(cls, environment: Mapping[str, str]) -> "JaasEntries":
        """With the file that `KAFKA_OPTS` names, if it does. Raises `ConfigError`."""
        return cls(sections_of_environment(environment))

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
                if is_for(entry, mechanism):
                    return entry
        return _NOTHING
