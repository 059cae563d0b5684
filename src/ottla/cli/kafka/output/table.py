"""Tables as Kafka's tools print them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.client.metric.metric_name import MetricName


def table_text(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """The whole table, cells padded to their column, a tab behind each.

    >>> table_text(["Id", "Name"], [[1, "orders"]])
    'Id\\tName  \\t\\n1 \\torders\\t'
    """
    cells = [list(headers), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("".join(f"{cell:<{width}}\t" for cell, width in zip(row, widths, strict=True)) for row in cells)


def metric_lines(metrics: "Mapping[MetricName, float]") -> Iterator[str]:
    """A client's metrics as performance tools print them, sorted, in two columns; nothing without metrics."""
    if not metrics:
        return
    shown = {
        f"{name.group}:{name.name}:{{{', '.join(f'{key}={value}' for key, value in name.tags)}}}": value
        for name, value in metrics.items()
    }
    width = max(map(len, shown))
    yield ""
    yield f"{'Metric Name':<{width}}   Value"
    for name in sorted(shown):
        yield f"{name:<{width}} : {shown[name]:.3f}"
