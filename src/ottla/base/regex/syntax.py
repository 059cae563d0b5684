"""The syntax of RE2, which is what Kafka takes for names of topics and transactional ids: read into a tree.

It has no look-arounds, no back-references and no possessive quantifiers, and refuses them; that is what lets an
automaton match in linear time. Only whole names are matched and groups are never asked for, so that greediness,
captures and the line flags don't matter here: they are checked and dropped. Case is folded into the sets.
"""

import re
from typing import Final, NamedTuple, TypeAlias

from ottla.base.errors import OttlaError
from ottla.base.regex.character_class import (
    EVERYTHING,
    PERL,
    POSIX,
    UNICODE,
    Alphabet,
    folded,
    inverted,
    mask_of,
)

REPEAT_MAX: Final = 1000
DEPTH_MAX: Final = 100
"""How deep groups may be nested; RE2's own limit is 1,000, which names do not come near."""


class RegexError(OttlaError):
    """The expression is none that RE2 takes; the message says what is wrong with it."""


class Chars(NamedTuple):
    """One character out of a set."""

    mask: int


class Edge(NamedTuple):
    """A place between characters: `A` the beginning, `z` the end, `b` where a word begins or ends, `B` elsewhere."""

    kind: str


class Sequence(NamedTuple):
    """One after the other."""

    parts: tuple["Node", ...]


class Choice(NamedTuple):
    """One of several."""

    options: tuple["Node", ...]


class Repeat(NamedTuple):
    """A part that is repeated from `low` to `high` times; None is without end."""

    part: "Node"
    low: int
    high: int | None


Node: TypeAlias = Chars | Edge | Sequence | Choice | Repeat

_REPEATS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_EDGES: Final = {"A": "A", "z": "z", "b": "b", "B": "B"}
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_OCTAL: Final = "01234567"
_HEX: Final = "0123456789abcdefABCDEF"
_CODE_POINT_MAX: Final = 0x10FFFF
_BEYOND_ASCII: Final = re.compile(r"[^\x00-\x7f]|\\x\{?([0-9a-fA-F]{2,8})|\\([1-7][0-7]{2})")
"""The spellings of a character beyond ASCII: itself, or its number. Too many do no harm."""


def alphabet_of(text: str) -> Alphabet:
    """The characters that an expression can tell apart; `RegexError` if they are too many."""
    found = _BEYOND_ASCII.finditer(text)
    named = (int(m[1], 16) if m[1] else int(m[2], 8) if m[2] else ord(m[0]) for m in found)
    # `\x41b` is `A` and a `b`: two digits unless they are in braces.
    pairs = (int(m[1][:2], 16) for m in _BEYOND_ASCII.finditer(text) if m[1])
    try:
        return Alphabet([*named, *pairs])
    except ValueError as error:
        raise RegexError(str(error)) from error


def parse_regex(text: str, alphabet: Alphabet) -> Node:
    """The tree of an expression in its alphabet; `RegexError` if it is none.

    >>> parse_regex("a|b", alphabet_of("a|b")).options[0].mask == 1 << 97
    True
    """
    parser = _Parser(text, alphabet)
    tree = parser.choice()
    if not parser.is_at_end:
        raise RegexError("unexpected )")
    return tree


class _Parser:
    """Recursive descent, one method for each level of the grammar."""

    def __init__(self, text: str, alphabet: Alphabet) -> None:
        self._text = text
        self._range = alphabet.range
        self._at = 0
        self._depth = 0
        self._is_folding = False
        self._names: set[str] = set()

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._text)

    def choice(self) -> Node:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        was_repeat = False
        while not self.is_at_end and self._text[self._at] not in "|)":
            repeat = self._repeat()
            if repeat is None:
                was_repeat = False
                parts.extend(self._atoms())
            elif not parts:
                raise RegexError("missing argument to repetition operator")
            elif was_repeat:
                raise RegexError("invalid nested repetition operator")
            else:
                self._take("?")
                parts[-1] = Repeat(parts[-1], *repeat)
                was_repeat = True
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeat(self) -> tuple[int, int | None] | None:
        """A repetition operator, if one is next; a brace that starts none is a brace."""
        simple = _REPEATS.get(self._text[self._at])
        if simple is not None:
            self._at += 1
            return simple
        if self._text[self._at] != "{":
            return None
        end = self._text.find("}", self._at)
        low_text, comma, high_text = self._text[self._at + 1 : max(end, 0)].partition(",")
        if end < 0 or not _is_count(low_text) or not (not high_text or _is_count(high_text)):
            return None
        self._at = end + 1
        low = int(low_text)
        high = int(high_text) if high_text else None if comma else low
        if low > REPEAT_MAX or (high is not None and not low <= high <= REPEAT_MAX):
            raise RegexError("invalid repeat count")
        return low, high

    def _atoms(self) -> list[Node]:
        """The next parts: usually one, none for flags, several for a quotation."""
        character = self._next()
        match character:
            case "(":
                return self._group()
            case "[":
                return [self._class()]
            case ".":
                return [Chars(EVERYTHING & ~mask_of("\n"))]
            case "^":
                return [Edge("A")]
            case "$":
                return [Edge("z")]
            case "\\":
                return self._escape()
        return [self._char(ord(character))]

    def _group(self) -> list[Node]:
        was_folding = self._is_folding
        if self._take("?"):
            if self._text.startswith(("P<", "<"), self._at):
                self._group_name()
            elif self._flags() == ")":
                return []
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise RegexError("expression nests too deeply")
        tree = self.choice()
        if not self._take(")"):
            raise RegexError("missing closing )")
        self._depth -= 1
        self._is_folding = was_folding
        return [tree]

    def _group_name(self) -> None:
        self._at = self._text.index("<", self._at) + 1
        end = self._text.find(">", self._at)
        name = self._text[self._at : max(end, self._at)]
        if not name or not name.isascii() or not name.replace("_", "a").isalnum():
            raise RegexError("invalid named capture")
        if name in self._names:
            raise RegexError("duplicate capture group name")
        self._names.add(name)
        self._at = end + 1

    def _flags(self) -> str:
        """Flags up to a colon or a bracket, which is returned; at least one must follow a minus."""
        is_on, has_flag, is_folding = True, True, self._is_folding
        while not self.is_at_end:
            character = self._next()
            if character in "imsU":
                has_flag = True
                if character == "i":
                    is_folding = is_on
            elif character == "-" and is_on:
                is_on, has_flag = False, False
            elif character in ":)" and has_flag:
                self._is_folding = is_folding
                return character
            else:
                break
        raise RegexError("invalid or unsupported Perl syntax")

    def _escape(self) -> list[Node]:
        if self.is_at_end:
            raise RegexError("trailing backslash at end of expression")
        character = self._text[self._at]
        if character in _EDGES:
            self._at += 1
            return [Edge(_EDGES[character])]
        if character == "Q":
            return self._quotation()
        mask = self._named_class()
        return [self._char(self._escaped_code()) if mask is None else Chars(mask)]

    def _quotation(self) -> list[Node]:
        end = self._text.find("\\E", self._at)
        quoted = self._text[self._at + 1 : end if end >= 0 else None]
        self._at = end + 2 if end >= 0 else len(self._text)
        return [self._char(ord(character)) for character in quoted]

    def _named_class(self) -> int | None:
        """`\\d` or `\\p{Lu}` after its backslash, if there is one."""
        kind = self._text[self._at] if not self.is_at_end else ""
        if kind and kind in "dswDSW":
            self._at += 1
            mask = PERL[kind.lower()]
            return mask if kind.islower() else inverted(mask)
        if kind and kind in "pP":
            self._at += 1
            mask = self._unicode_class()
            return mask if kind == "p" else inverted(mask)
        return None

    def _unicode_class(self) -> int:
        if self._take("{"):
            end = self._text.find("}", self._at)
            name = self._text[self._at : max(end, self._at)]
            self._at = end + 1
        else:
            name = "" if self.is_at_end else self._next()
        is_inverted = name.startswith("^")
        mask = UNICODE.get(name.removeprefix("^"))
        if mask is None:
            raise RegexError("invalid character class range")
        if self._is_folding:
            mask = folded(mask)
        return inverted(mask) if is_inverted else mask

    def _class(self) -> Node:
        is_inverted = self._take("^")
        mask, is_first = 0, True
        while is_first or not self._text.startswith("]", self._at):
            if self.is_at_end:
                raise RegexError("missing closing ]")
            is_first = False
            mask |= self._class_item()
        self._at += 1
        if self._is_folding:
            mask = folded(mask)
        return Chars(inverted(mask) if is_inverted else mask)

    def _class_item(self) -> int:
        posix_end = self._text.find(":]", self._at + 2)
        if self._text.startswith("[:", self._at) and posix_end >= 0:
            name = self._text[self._at + 2 : posix_end]
            self._at = posix_end + 2
            mask = POSIX.get(name.removeprefix("^"))
            if mask is None:
                raise RegexError("invalid character class range")
            return inverted(mask) if name.startswith("^") else mask
        if self._text.startswith("\\", self._at):
            self._at += 1
            named = self._named_class()
            if named is not None:
                return named
            self._at -= 1
        first = last = self._class_char()
        if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
            self._at += 1
            last = self._class_char()
            if last < first:
                raise RegexError("invalid character class range")
        return self._range(first, last)

    def _class_char(self) -> int:
        if self.is_at_end:
            raise RegexError("missing closing ]")
        character = self._next()
        return self._escaped_code() if character == "\\" else ord(character)

    def _escaped_code(self) -> int:
        """The character that an escape stands for, after its backslash."""
        if self.is_at_end:
            raise RegexError("trailing backslash at end of expression")
        character = self._next()
        if character in _CONTROLS:
            return ord(_CONTROLS[character])
        if character == "x":
            return self._hex_code()
        if character in _OCTAL:
            digits = character
            while len(digits) < 3 and not self.is_at_end and self._text[self._at] in _OCTAL:
                digits += self._next()
            if character == "0" or len(digits) > 1:
                return int(digits, 8)
        elif not (character.isascii() and character.isalnum()):
            return ord(character)
        raise RegexError("invalid escape sequence")

    def _hex_code(self) -> int:
        if self._take("{"):
            end = self._text.find("}", self._at)
            digits = self._text[self._at : max(end, self._at)]
            self._at = end + 1
        else:
            digits = self._text[self._at : self._at + 2]
            self._at += 2
            digits = digits if len(digits) == 2 else ""
        is_hex = 0 < len(digits) <= 8 and all(digit in _HEX for digit in digits)
        if not is_hex or int(digits, 16) > _CODE_POINT_MAX:
            raise RegexError("invalid escape sequence")
        return int(digits, 16)

    def _char(self, code: int) -> Chars:
        mask = self._range(code, code)
        return Chars(folded(mask) if self._is_folding else mask)

    def _next(self) -> str:
        character = self._text[self._at]
        self._at += 1
        return character

    def _take(self, character: str) -> bool:
        if self._text.startswith(character, self._at):
            self._at += 1
            return True
        return False


def _is_count(text: str) -> bool:
    """A decimal number without leading zeros."""
    return text.isascii() and text.isdigit() and (text == "0" or text[0] != "0")
