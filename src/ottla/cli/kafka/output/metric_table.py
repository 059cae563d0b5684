"""A client's metrics as Kafka's performance tools print them: sorted, in two columns."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.client.metric.metric_name import MetricName


def metric_lines(metrics: "Mapping[MetricName, float]") -> Iterator[str]:
    """The table, line by line; nothing without metrics."""
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
