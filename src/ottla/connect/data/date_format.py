"""`java.text.SimpleDateFormat` in UTC and English: prints a moment by a pattern, and reads one leniently.

Lenient is as in Java: 31 February is 3 March, 25 o'clock is 1 o'clock of the next day, and text behind what the pattern
covers is ignored. Years of two digits are between 1950 and 2049, where Java takes 80 years before today.
"""

import re
from collections.abc import Callable
from typing import Final

from ottla.base.frozen import frozen
from ottla.connect.data.calendar import MS_PER_DAY, Day, day_of, days_of, weekday

MONTHS: Final = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                 "November", "December")  # fmt: skip
DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ZONES: Final = {"UTC": 0, "GMT": 0, "UT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5,
                 "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "BST": 1, "WET": 0, "EET": 2,
                 "JST": 9}  # fmt: skip
_LETTERS: Final = "GyYMLwWDdFEuaHkKhmsSzZX"
_NUMBER: Final = re.compile(r"[ \t]*(-?\d+)", re.ASCII)
_OFFSET: Final = re.compile(r"(?:GMT|UTC)?([+-])(\d{1,2}):?(\d{2})?", re.ASCII)


@frozen
class Piece:
    """A letter with how often it stands there, or literal text."""

    letter: str
    count: int
    literal: str = ""


class DateFormat:
    """A pattern, read once.

    >>> DateFormat("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'").format(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    >>> DateFormat("yyyy-MM-dd").parse("2023-02-31 or so") == DateFormat("yyyyMMdd").parse("20230303")
    True
    """

    def __init__(self, pattern: str) -> None:
        self.pattern: Final = pattern
        self._pieces: Final = _pieces(pattern)

    def format(self, ms: int) -> str:
        """A moment by the pattern."""
        days, of_day = divmod(ms, MS_PER_DAY)
        day = day_of(days)
        return "".join([piece.literal or _printed(piece, day, days, of_day) for piece in self._pieces])

    def parse(self, text: str) -> int | None:
        """The moment at the beginning of the text in milliseconds; None if the text does not match."""
        fields: dict[str, int] = {}
        position = 0
        for index in range(len(self._pieces)):
            found = self._read(index, text, position, fields)
            if found is None:
                return None
            position = found
        return _moment(fields)

    def _read(self, index: int, text: str, position: int, fields: dict[str, int]) -> int | None:
        piece = self._pieces[index]
        if piece.literal:
            end = position + len(piece.literal)
            return end if text[position:end] == piece.literal else None
        if piece.letter in "zZX":
            return _read_zone(text, position, fields)
        words = _words(piece)
        if words:
            return _read_word(piece, words, text, position, fields)
        # Numbers that touch each other have as many digits as letters; the last one takes what is left.
        touching = index + 1 < len(self._pieces) and _is_numeric(self._pieces[index + 1])
        return _read_number(piece, text, position, fields, touching=touching)


def _pieces(pattern: str) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    position = 0
    while position < len(pattern):
        letter = pattern[position]
        if letter == "'":
            literal, position = _quoted(pattern, position)
            pieces.append(Piece("", 0, literal))
        elif letter.isascii() and letter.isalpha():
            if letter not in _LETTERS:
                raise ValueError(f"Illegal pattern character '{letter}'")
            end = position
            while end < len(pattern) and pattern[end] == letter:
                end += 1
            pieces.append(Piece(letter, end - position))
            position = end
        else:
            pieces.append(Piece("", 0, letter))
            position += 1
    return tuple(pieces)


def _quoted(pattern: str, position: int) -> tuple[str, int]:
    """The text between quotes; two quotes are one."""
    if pattern.startswith("''", position):
        return "'", position + 2
    end = position + 1
    made = ""
    while True:
        close = pattern.find("'", end)
        if close < 0:
            raise ValueError("Unterminated quote")
        made += pattern[end:close]
        if not pattern.startswith("''", close):
            return made, close + 1
        made += "'"
        end = close + 2


def _is_numeric(piece: Piece) -> bool:
    return bool(piece.letter) and piece.letter not in "GEazZX" and not (piece.letter in "ML" and piece.count > 2)


_PRINTED: Final[dict[str, Callable[[int, int], int]]] = {
    "d": lambda days, _: day_of(days).day,
    "D": lambda days, _: days - days_of(day_of(days).year, 1, 1) + 1,
    "F": lambda days, _: (day_of(days).day - 1) // 7 + 1,
    "u": lambda days, _: weekday(days),
    "w": lambda days, _: _week(days)[1],
    "W": lambda days, _: (day_of(days).day - 1 + weekday(days - day_of(days).day + 1) % 7) // 7 + 1,
    "H": lambda _, ms: ms // 3_600_000,
    "k": lambda _, ms: ms // 3_600_000 or 24,
    "K": lambda _, ms: ms // 3_600_000 % 12,
    "h": lambda _, ms: ms // 3_600_000 % 12 or 12,
    "m": lambda _, ms: ms // 60_000 % 60,
    "s": lambda _, ms: ms // 1000 % 60,
    "S": lambda _, ms: ms % 1000,
}


def _week(days: int) -> tuple[int, int]:
    """Year and number of a week by the American count: weeks begin on Sunday, the first holds 1 January."""
    year = day_of(days).year
    if days + 7 - weekday(days) % 7 > days_of(year + 1, 1, 1):
        return year + 1, 1
    first = days_of(year, 1, 1)
    return year, (days - first + weekday(first) % 7) // 7 + 1


def _printed(piece: Piece, day: Day, days: int, of_day: int) -> str:
    letter, count = piece.letter, piece.count
    if letter in "yY":
        year = day.year if letter == "y" else _week(days)[0]
        return f"{year % 100:02d}" if count == 2 else f"{year:0{count}d}"
    if letter in "ML":
        return _named(MONTHS[day.month - 1], count, 3) if count > 2 else f"{day.month:0{count}d}"
    if letter == "E":
        return _named(DAYS[weekday(days) - 1], count, 3)
    if letter == "a":
        return "AM" if of_day < MS_PER_DAY // 2 else "PM"
    if letter in "GzZX":
        return {"G": "AD", "z": "Coordinated Universal Time" if count > 3 else "UTC", "Z": "+0000", "X": "Z"}[letter]
    return f"{_PRINTED[letter](days, of_day):0{count}d}"


def _named(name: str, count: int, short: int) -> str:
    return name if count > 3 else name[:short]


def _words(piece: Piece) -> tuple[str, ...]:
    if piece.letter in "ML" and piece.count > 2:
        return MONTHS
    return {"E": DAYS, "a": ("AM", "PM"), "G": ("BC", "AD")}.get(piece.letter, ())


def _read_word(piece: Piece, words: tuple[str, ...], text: str, position: int, fields: dict[str, int]) -> int | None:
    position = _past_spaces(text, position)
    for spelled in (words, tuple(word[:3] for word in words)):
        for index, word in enumerate(spelled):
            if text[position : position + len(word)].lower() == word.lower():
                fields["M" if piece.letter == "L" else piece.letter] = index + (piece.letter in "ML")
                return position + len(word)
    return None


def _read_number(piece: Piece, text: str, position: int, fields: dict[str, int], *, touching: bool) -> int | None:
    limit = _past_spaces(text, position) + piece.count if touching else len(text)
    if limit > len(text):
        return None
    found = _NUMBER.match(text, position, limit)
    if found is None:
        return None
    value = int(found[1])
    if piece.letter in "yY" and piece.count <= 2 and re.fullmatch(r"\d\d", found[1]):
        value += 2000 if value < 50 else 1900
    fields[{"L": "M", "Y": "y"}.get(piece.letter, piece.letter)] = value
    return found.end()


def _past_spaces(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t":
        position += 1
    return position


def _read_zone(text: str, position: int, fields: dict[str, int]) -> int | None:
    position = _past_spaces(text, position)
    found = _OFFSET.match(text, position)
    if found is not None:
        minutes = int(found[2]) * 60 + int(found[3] or 0)
        fields["zone"] = minutes if found[1] == "+" else -minutes
        return found.end()
    for name in sorted(_ZONES, key=len, reverse=True):
        if text[position : position + len(name)].upper() == name:
            fields["zone"] = _ZONES[name] * 60
            return position + len(name)
    return None


def _moment(fields: dict[str, int]) -> int:
    """The moment of what was read; what was not is 1 January 1970, midnight."""
    year = fields.get("y", 1970)
    if fields.get("G") == 0:
        year = 1 - year
    if "D" in fields and "M" not in fields and "d" not in fields:
        days = days_of(year, 1, fields["D"])
    else:
        days = days_of(year, fields.get("M", 1), fields.get("d", 1))
    minutes = _hour(fields) * 60 + fields.get("m", 0) - fields.get("zone", 0)
    return days * MS_PER_DAY + (minutes * 60 + fields.get("s", 0)) * 1000 + fields.get("S", 0)


def _hour(fields: dict[str, int]) -> int:
    if "H" in fields:
        return fields["H"]
    if "k" in fields:
        return 0 if fields["k"] == 24 else fields["k"]
    if "h" in fields:
        return (0 if fields["h"] == 12 else fields["h"]) + 12 * fields.get("a", 0)
    return fields.get("K", 0) + 12 * fields.get("a", 0)
