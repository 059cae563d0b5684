"""Tables as several of Kafka's tools print them: cells padded to their column, a tab behind each."""

from collections.abc import Sequence


def table_text(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The whole table.

    >>> table_text(["Id", "Name"], [[1, "orders"]])
    'Id\\tName  \\t\\n1 \\torders\\t'
    """
    cells = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)) for row in cells)
