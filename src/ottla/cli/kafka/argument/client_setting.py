"""Settings of a producer or consumer as Kafka's tools collect them: a file, `key=value` options, options of their own.

Owns their precedence and the notes about old option names. Kafka's clients only warn of settings that they don't have,
so these tools leave them out. Imports no client: the tools that need one do.
"""

import re
from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Final

from ottla.base.config.file import parse_properties
from ottla.cli.kafka.argument.option import ChosenOptions, Option, OptionValueError

_ADDRESS: Final = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]*://)?\[?[0-9a-zA-Z_%.:-]*\]?:[0-9]+")


class SettingFileError(OptionValueError):
    """A properties file that can't be read, in Java's words: often no more than its path."""

    def __init__(self, path: str, error: OSError) -> None:
        names = {FileNotFoundError: "NoSuchFileException", PermissionError: "AccessDeniedException"}
        name = names.get(type(error))
        super().__init__(path if name else str(error.strerror))
        self.java_class = f"java.nio.file.{name}" if name else "java.io.IOException"


def properties_of(pairs: Iterable[str]) -> dict[str, str]:
    """What `key=value` options say; a missing value is an empty one.

    >>> properties_of(["acks=all", "sasl.jaas.config=a=b", "client.id"])
    {'acks': 'all', 'sasl.jaas.config': 'a=b', 'client.id': ''}
    """
    found = (pair.partition("=") for pair in pairs)
    return {key: value for key, _, value in found}


def properties_in(path: str | None) -> dict[str, str]:
    """What a properties file says; nothing without one."""
    if path is None:
        return {}
    try:
        return parse_properties(Path(path).read_text())
    except OSError as error:
        raise SettingFileError(path, error) from error


def current_name(options: ChosenOptions, new: str, old: str, note: str) -> str:
    """Which of an option's two names was used; the old one is told of on the output."""
    if options.has(old):
        print(note.format(old=old, new=new))
        return old
    return new


def merge(settings: dict[str, str], key: str, options: ChosenOptions, name: str) -> None:
    """An option that was given wins; its default stands only for what is not set otherwise."""
    value = options.text(name)
    if value is not None and (options.has(name) or key not in settings):
        settings[key] = value


def check_addresses(options: ChosenOptions, name: str = "bootstrap-server") -> None:
    """Fails unless every address of an option has a port."""
    servers = options.text(name)
    if servers is None or not servers.strip():
        options.fail("Error while validating the bootstrap address\n")
    if not all(_ADDRESS.fullmatch(address) for address in servers.split(",")):
        options.fail("Please provide valid host:port like host1:9091,host2:9092\n")


def known_settings(settings: Mapping[str, str], keys: Container[str]) -> dict[str, object]:
    """Those that the client has."""
    return {name: value for name, value in settings.items() if name in keys}


SERVERS: Final = Option(
    "bootstrap-server", "REQUIRED: the brokers to connect to, host:port, separated by commas.", "server to connect to"
)
