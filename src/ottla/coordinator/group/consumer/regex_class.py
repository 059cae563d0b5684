"""Sets of characters for regular expressions on topic names, as bit masks.

Topic names are letters, digits, dots, dashes and underscores, so a set is a mask with a bit for each of ASCII's 128
characters, and what lies beyond never matters. Names and meanings are those of RE2.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

SIZE: Final = 128
EVERYTHING: Final = (1 << SIZE) - 1


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
    """The set from one code point to another, both in it."""
    last = min(last, SIZE - 1)
    return (1 << last + 1) - (1 << first) if first <= last else 0


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
    "ascii": EVERYTHING,
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
    return classes | {"Any": EVERYTHING, "Latin": letters, "Common": inverted(letters)}


UNICODE: Final = _unicode_classes()
"""`\\p{Lu}`, `\\p{Latin}`: categories and scripts, as far as they reach into ASCII."""
