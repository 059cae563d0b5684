"""Keeps secrets out of what is shown: placeholders stand in place of their values, and stars for other secrets. Pure.

A value of one or two letters is left alone: it would be found in every sentence.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Final

_CHARACTERS_MIN: Final = 3
HIDDEN: Final = "[hidden]"


class Mask:
    """Replaces secrets in texts.

    >>> mask = Mask.of([({"password": "${env:X}"}, {"password": "hunter2"})], ["letmein"])
    >>> mask.text("hunter2 is wrong, so is letmein")
    '${env:X} is wrong, so is [hidden]'
    """

    def __init__(self, shown: Mapping[str, str]) -> None:
        # The longest first, since one may be part of another.
        found = {secret: text for secret, text in shown.items() if len(secret) >= _CHARACTERS_MIN}
        self._shown: Final = sorted(found.items(), key=lambda pair: -len(pair[0]))

    @classmethod
    def of(cls, pairs: Iterable[tuple[Mapping[str, str], Mapping[str, str]]], secrets: Iterable[str] = ()) -> "Mask":
        """`pairs` are settings with their placeholders, and the same with values; `secrets` have no placeholder."""
        shown = dict.fromkeys(secrets, HIDDEN)
        for given, resolved in pairs:
            shown |= {resolved[name]: value for name, value in given.items() if resolved.get(name, value) != value}
        return cls(shown)

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret, shown in self._shown:
            text = text.replace(secret, shown)
        return text


class MaskingFormatter(logging.Formatter):
    """Lines of the log without secrets, those of tracebacks included."""

    def __init__(self, form: str, mask: Mask) -> None:
        super().__init__(form)
        self._mask: Final = mask

    def format(self, record: logging.LogRecord) -> str:
        """One line, or several."""
        return self._mask.text(super().format(record))
