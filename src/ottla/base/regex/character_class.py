"""Sets of characters for regular expressions, as bit masks.

A mask has a bit for each of ASCII's 128 characters. What lies beyond hardly matters for names of topics and
transactional ids: an `Alphabet` divides it at the characters that the expression names, and each stretch in between has
one bit, since the expression cannot tell its characters apart. Names and meanings are those of RE2; its classes and the
folding of case reach no further than ASCII here, except that what is inverted holds all that lies beyond.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from typing import Final

SIZE: Final = 128
_ASCII: Final = (1 << SIZE) - 1
_STRETCHES_MAX: Final = 1_000
EVERYTHING: Final = (1 << SIZE + _STRETCHES_MAX) - 1
"""All of ASCII, and every stretch that there can be beyond it."""


def mask_of(characters: Iterable[str]) -> int:
    """The set of these characters, without those beyond ASCII.

    >>> mask_of("a") == 1 << 97
    True
    """
    mask = 0
    for character in characters:
        if ord(character) < SIZE:
            mask |= 1 << ord(character)
    return mask


def range_mask(first: int, last: int) -> int:
    """The set from one bit to another, both in it."""
    return (1 << last + 1) - (1 << first) if first <= last else 0


class Alphabet:
    """Which bit stands for which character, in one expression.

    >>> alphabet = Alphabet([0xE9])  # é: what is before it, itself, what comes after
    >>> [alphabet.bit(ord(character)) for character in "aàéü"]
    [97, 128, 129, 130]
    """

    def __init__(self, named: Iterable[int]) -> None:
        """`named` are the code points that an expression names; `ValueError` if they are too many."""
        beyond = {code for code in named if code >= SIZE}
        self._starts: Final = sorted({*beyond, *(code + 1 for code in beyond)} | {SIZE})
        if len(self._starts) > _STRETCHES_MAX:
            raise ValueError("too many different characters")

    def bit(self, code: int) -> int:
        """The bit of a code point."""
        return code if code < SIZE else SIZE - 1 + bisect_right(self._starts, code)

    def range(self, first: int, last: int) -> int:
        """The set from one code point to another; both must be named, or of ASCII."""
        return range_mask(self.bit(first), self.bit(last))


def folded(mask: int) -> int:
    """The set with the other case of each of its letters."""
    upper, lower = mask & _UPPER, mask & _LOWER
    return mask | upper << 32 | lower >> 32


def inverted(mask: int) -> int:
    """All that is not in the set."""
    return EVERYTHING & ~mask


_UPPER: Final = range_mask(65, 90)
_LOWER: Final = range_mask(97, 122)
_DIGIT: Final = range_mask(48, 57)
WORD: Final = _UPPER | _LOWER | _DIGIT | mask_of("_")
_PRINT: Final = range_mask(32, 126)
_GRAPH: Final = range_mask(33, 126)

PERL: Final = {"d": _DIGIT, "s": mask_of("\t\n\f\r "), "w": WORD}
"""`\\d`, `\\s` and `\\w`; in upper case they are inverted."""

POSIX: Final = {
    "alnum": _UPPER | _LOWER | _DIGIT,
    "alpha": _UPPER | _LOWER,
    "ascii": _ASCII,
    "blank": mask_of("\t "),
    "cntrl": range_mask(0, 31) | 1 << 127,
    "digit": _DIGIT,
    "graph": _GRAPH,
    "lower": _LOWER,
    "print": _PRINT,
    "punct": _GRAPH & ~(_UPPER | _LOWER | _DIGIT),
    "space": mask_of("\t\n\v\f\r "),
    "upper": _UPPER,
    "word": WORD,
    "xdigit": _DIGIT | range_mask(65, 70) | range_mask(97, 102),
}
"""`[[:alpha:]]` and so on."""

_CATEGORIES: Final = (
    "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs"
)

_SCRIPTS: Final = (
    "Arabic Armenian Avestan Balinese Bamum Batak Bengali Bopomofo Brahmi Braille Buginese Buhid "
    "Canadian_Aboriginal Carian Cham Cherokee Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari "
    "Egyptian_Hieroglyphs Ethiopic Georgian Glagolitic Gothic Greek Gujarati Gurmukhi Han Hangul Hanunoo Hebrew "
    "Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada "
    "Katakana Kayah_Li Kharoshthi Khmer Lao Latin Lepcha Limbu Linear_B Lisu Lycian Lydian Malayalam Mandaic "
    "Meetei_Mayek Mongolian Myanmar New_Tai_Lue Nko Ogham Ol_Chiki Old_Italic Old_Persian Old_South_Arabian "
    "Old_Turkic Oriya Osmanya Phags_Pa Phoenician Rejang Runic Samaritan Saurashtra Shavian Sinhala Sundanese "
    "Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Tamil Telugu Thaana Thai Tibetan Tifinagh "
    "Ugaritic Unknown Vai Yi"
)


def _category(name: str) -> int:
    return mask_of(character for character in map(chr, range(SIZE)) if unicodedata.category(character).startswith(name))


def _unicode_classes() -> dict[str, int]:
    letters = _UPPER | _LOWER
    classes = dict.fromkeys(_SCRIPTS.split(), 0)
    classes |= {name: _category(name) for name in _CATEGORIES.split()}
    return classes | {"Any": EVERYTHING, "Latin": letters, "Common": _ASCII & ~letters}


UNICODE: Final = _unicode_classes()
"""`\\p{Lu}`, `\\p{Latin}`: categories and scripts, as far as they reach into ASCII."""
