"""Tables without borders: a header, two spaces between columns, numbers to the right."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from ottla.cli.output.style import Style, Text, Tone, Toned, plain, width

_GAP: Final = "  "
MISSING: Final = "-"
"""What a cell without a value shows."""


class Number(NamedTuple):
    """A number with a tone."""

    value: int
    tone: Tone


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], style: Style) -> str:
    """The whole table; a column that holds only numbers is aligned to the right, None shows as `-`.

    >>> print(table(["Topic", "Records"], [["orders", 12000], ["users", None]], Style(is_coloured=False)))
    TOPIC   RECORDS
    orders   12,000
    users         -
    """
    given = [list(row) for row in rows]
    cells: list[list[Text]] = [[_cell(value) for value in row] for row in given]
    widths = [
        max(width(name), *(width(plain(row[index])) for row in cells)) if cells else width(name)
        for index, name in enumerate(headers)
    ]
    rights = [_is_number(row[index] for row in given) for index in range(len(headers))]
    lines = [_line([name.upper() for name in headers], widths, rights, Style(is_coloured=False))]
    lines[0] = style.paint(lines[0], Tone.STRONG)
    lines += [_line(row, widths, rights, style) for row in cells]
    return "\n".join(lines)


def _cell(value: object) -> Text:
    if value is None:
        return MISSING
    if isinstance(value, Number):
        return Toned(f"{value.value:,}", value.tone)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return value if isinstance(value, Toned) else str(value)


def _is_number(values: Iterable[object]) -> bool:
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, (int, float, Number)) for value in found)


def _line(cells: Sequence[Text], widths: Sequence[int], rights: Sequence[bool], style: Style) -> str:
    parts = []
    for cell, column, right in zip(cells, widths, rights, strict=True):
        padding = " " * (column - width(plain(cell)))
        painted = style.paint(cell)
        parts.append(padding + painted if right else painted + padding)
    return _GAP.join(parts).rstrip()
