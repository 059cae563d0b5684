"""The loops between record sections and Arrow buffers, by whichever twins are installed.

`columns_plain` and `columns_writer_plain` document them; the compiled `_columns` and `_columns_writer` behave the same,
errors included. What they take and give is declared in `columns_layout`.
"""

from typing import TYPE_CHECKING

from ottla.base.accelerated import load

if TYPE_CHECKING:
    from ottla.protocol.records.columns_plain import ColumnReader
    from ottla.protocol.records.columns_writer_plain import ColumnWriter
else:
    ColumnReader = load("ottla.protocol.records._columns", "ottla.protocol.records.columns_plain").ColumnReader
    ColumnWriter = load(
        "ottla.protocol.records._columns_writer", "ottla.protocol.records.columns_writer_plain"
    ).ColumnWriter

__all__ = ["ColumnReader", "ColumnWriter"]
