"""Java's regular expressions by Python's: translated where they are written differently.

Named groups, quoting by `\\Q…\\E`, POSIX and Unicode classes and flags in the middle are translated. Intersections of
character classes (`[a-z&&[^b]]`) are refused. Letters, digits and case are ASCII's, as in Java without flags.
"""

import re
from typing import Final

from ottla.connect.errors import DataError, NoSuchGroupError

_CLASSES: Final = {
    "Alpha": "a-zA-Z", "Digit": "0-9", "Alnum": "a-zA-Z0-9", "Upper": "A-Z", "Lower": "a-z", "XDigit": "0-9a-fA-F",
    "Punct": r"!-/:-@\[-`{-~", "Space": r"\s", "Blank": r" \t", "ASCII": r"\x00-\x7f", "Cntrl": r"\x00-\x1f\x7f",
    "Graph": "!-~", "Print": " -~", "L": r"^\W\d_", "Lu": "A-Z", "Ll": "a-z", "N": r"\d", "Nd": r"\d",
}  # fmt: skip
_ESCAPES: Final = {"z": r"\Z", "Z": r"(?=\n?\Z)", "h": r"[ \t]", "R": r"(?:\r\n|[\n\r])", "e": r"\x1b"}
_GROUP: Final = re.compile(r"\(\?<(?![=!])")
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]+)\)")


def compiled(pattern: str) -> re.Pattern[str]:
    """The expression, compiled; `re.error` says what is wrong with it.

    >>> compiled("(?<name>[a-z]+)-\\\\p{Digit}+").fullmatch("orders-7")["name"]
    'orders'
    """
    return re.compile(_Translation(pattern).text(), re.ASCII)


def replace_first(pattern: re.Pattern[str], text: str, replacement: str) -> str:
    """`Matcher.replaceFirst`: `$1` and `${name}` are groups, a backslash quotes what follows.

    >>> replace_first(compiled("(.*)-(.*)"), "a-b", "$2.$1")
    'b.a'
    """
    return pattern.sub(lambda found: _filled(found, replacement), text, count=1)


def _filled(found: re.Match[str], replacement: str) -> str:
    made: list[str] = []
    position = 0
    while position < len(replacement):
        letter = replacement[position]
        position += 1
        if letter == "\\":
            if position == len(replacement):
                raise DataError("character to be escaped is missing")
            made.append(replacement[position])
            position += 1
        elif letter == "$":
            value, position = _group(found, replacement, position)
            made.append(value)
        else:
            made.append(letter)
    return "".join(made)


def _group(found: re.Match[str], replacement: str, position: int) -> tuple[str, int]:
    named = re.compile(r"\{([a-zA-Z][a-zA-Z0-9]*)\}").match(replacement, position)
    if named is not None:
        if named[1] not in found.re.groupindex:
            raise DataError(f"No group with name {{{named[1]}}}")
        return found[named[1]] or "", named.end()
    digits = re.compile(r"\d+").match(replacement, position)
    if digits is None:
        raise DataError("Illegal group reference")
    number = int(digits[0][0])
    if number > found.re.groups:
        raise NoSuchGroupError(f"No group {number}")
    end = position + 1
    # As many digits as still name a group.
    while end < digits.end() and int(replacement[position : end + 1]) <= found.re.groups:
        end += 1
        number = int(replacement[position:end])
    return found[number] or "", end


class _Translation:
    def __init__(self, pattern: str) -> None:
        self._pattern: Final = pattern
        self._position = 0
        self._made: Final[list[str]] = []
        self._opened: Final[list[int]] = [0]
        """For each open group: how many groups for flags are to be closed with it."""

    def text(self) -> str:
        while self._position < len(self._pattern):
            self._step()
        return "".join(self._made) + ")" * self._opened[0]

    def _step(self) -> None:
        letter = self._pattern[self._position]
        if letter == "\\":
            self._made.append(self._escape(inside=False))
        elif letter == "[":
            self._class()
        elif letter == "(":
            self._open()
        elif letter == ")":
            self._made.append(")" * (1 + (self._opened.pop() if len(self._opened) > 1 else 0)))
            self._position += 1
        else:
            self._made.append(letter)
            self._position += 1

    def _open(self) -> None:
        flags = _FLAGS.match(self._pattern, self._position)
        if flags is not None:
            self._made.append(f"(?{''.join(flag for flag in flags[1] if flag in 'imsx')}:")
            self._opened[-1] += 1
            self._position = flags.end()
            return
        self._opened.append(0)
        named = _GROUP.match(self._pattern, self._position)
        self._made.append("(?P<" if named is not None else "(")
        self._position += len(named[0]) if named is not None else 1

    def _escape(self, *, inside: bool) -> str:
        letter = self._pattern[self._position + 1 : self._position + 2]
        self._position += 2
        if letter == "Q":
            end = self._pattern.find("\\E", self._position)
            end = end if end >= 0 else len(self._pattern)
            quoted = self._pattern[self._position : end]
            self._position = end + 2
            return re.escape(quoted)
        if letter in ("p", "P"):
            return self._property(negated=letter == "P", inside=inside)
        if letter == "k":
            end = self._pattern.find(">", self._position)
            name = self._pattern[self._position + 1 : end]
            self._position = end + 1
            return f"(?P={name})"
        return _ESCAPES.get(letter, "\\" + letter) if not inside else "\\" + letter

    def _property(self, *, negated: bool, inside: bool) -> str:
        found = re.compile(r"\{(?:Is)?(\w+)\}|(\w)").match(self._pattern, self._position)
        name = (found[1] or found[2]) if found is not None else ""
        if found is None or name not in _CLASSES:
            raise re.error(f"Unknown character property name {{{name}}}", self._pattern, self._position)
        self._position = found.end()
        members = _CLASSES[name]
        if inside:
            if negated or members.startswith("^"):
                raise re.error("a negated property within a character class is not known here", self._pattern)
            return members
        inverse = members.startswith("^")
        return f"[{'^' if inverse != negated else ''}{members.removeprefix('^')}]"

    def _class(self) -> None:
        """A character class, as it is but for its escapes; Java's unions and intersections are refused."""
        self._made.append("[")
        self._position += 1
        start = self._position
        while self._position < len(self._pattern):
            letter = self._pattern[self._position]
            if letter == "]" and self._pattern[start : self._position] not in ("", "^"):
                self._made.append("]")
                self._position += 1
                return
            if letter == "[" or self._pattern.startswith("&&", self._position):
                raise re.error("classes within character classes are not known here", self._pattern, self._position)
            if letter == "\\":
                self._made.append(self._escape(inside=True))
            else:
                self._made.append(letter)
                self._position += 1
        raise re.error("Unclosed character class", self._pattern, self._position)
