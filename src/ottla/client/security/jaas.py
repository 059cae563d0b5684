"""Reads `sasl.jaas.config`, the form in which Java's clients are given user and password."""

import re
from collections.abc import Mapping
from typing import Final

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen

_OPTION: Final = re.compile(r"""\s*([\w.]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))""")
_HEAD: Final = re.compile(r"\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\b", re.IGNORECASE)


@frozen
class JaasConfig:
    """A login module and its options."""

    module: str
    options: Mapping[str, str]


def parse_jaas(text: str) -> JaasConfig:
    """The login module that `text` configures. Raises `ConfigError`, which does not repeat the text.

    >>> parse_jaas('org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="b;c";')
    JaasConfig(module='org.apache.kafka.common.security.plain.PlainLoginModule', options={'username': 'a', \
'password': 'b;c'})
    """
    head = _HEAD.match(text)
    if head is None:
        raise _malformed("it must begin with a login module and `required`")
    options: dict[str, str] = {}
    position = head.end()
    while (found := _OPTION.match(text, position)) is not None:
        quoted = found[2]
        options[found[1]] = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else found[3]
        position = found.end()
    if text[position:].strip() != ";":
        raise _malformed('options are written name="value", and a semicolon ends them')
    return JaasConfig(head[1], options)


def _malformed(reason: str) -> ConfigError:
    return ConfigError("sasl.jaas.config", "***", f"{reason}; or set sasl.username and sasl.password instead")
