"""Rates, sizes and times as people write them: `200MB/s`, `1GiB`, `7d`. Pure."""

import re
from typing import Final

from ottla.cli.output.advice import CommandError

_NUMBER: Final = r"(\d+(?:\.\d+)?)\s*"
_SIZE: Final = re.compile(_NUMBER + r"([kmgtp]?)(i?)(b(?:it)?)?", re.IGNORECASE)
_TIME: Final = re.compile(_NUMBER + r"(ms|s|m|min|h|d|w)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def size_of(text: str, option: str) -> float:
    """Bytes. Units are decimal unless an `i` says otherwise.

    >>> size_of("1GiB", "--segment"), size_of("1.5MB", "--segment"), size_of("8Mbit", "--segment")
    (1073741824.0, 1500000.0, 1000000.0)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise CommandError(f"{option} {text}: write a size such as 512MB or 1GiB")
    number, prefix, binary, unit = found.groups()
    value: float = float(number) * (1024 if binary else 1000) ** " kmgtp".index(prefix.lower() or " ")
    return value / 8 if (unit or "").lower() == "bit" else value


def rate_of(text: str, option: str) -> float:
    """Bytes per second, more than none.

    >>> rate_of("200MB/s", "--target"), rate_of("1Gbit/s", "--target")
    (200000000.0, 125000000.0)
    """
    size, slash, per = text.strip().rpartition("/")
    if slash and per.strip() != "s":
        raise CommandError(f"{option} {text}: rates are per second, such as 200MB/s")
    try:
        rate = size_of(size if slash else text, option)
    except CommandError:
        raise CommandError(f"{option} {text}: write a rate such as 200MB/s") from None
    if rate <= 0:
        raise CommandError(f"{option} {text}: it must be more than nothing")
    return rate


def seconds_of(text: str, option: str) -> float:
    """Seconds.

    >>> seconds_of("7d", "--retention"), seconds_of("5ms", "--election")
    (604800.0, 0.005)
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise CommandError(f"{option} {text}: write a time such as 12h or 7d")
    return float(found[1]) * _SECONDS[found[2]]
