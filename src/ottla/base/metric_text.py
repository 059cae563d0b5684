"""The Prometheus text format (0.0.4) of a registry: what `/metrics` answers.

Families come sorted by name, each with one HELP and one TYPE line; histograms are summaries with Kafka's quantiles.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

from ottla.base.metric import QUANTILES, Histogram, MetricFamily, MetricRegistry

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_HELP: Final = str.maketrans({"\\": r"\\", "\n": r"\n"})
_VALUE: Final = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


def render(registry: MetricRegistry) -> str:
    r"""Everything in `registry`, one sample a line.

    >>> registry = MetricRegistry()
    >>> registry.counter("requests_total", "Requests served.", api="Fetch").add(7)
    >>> print(render(registry), end="")
    # HELP requests_total Requests served.
    # TYPE requests_total counter
    requests_total{api="Fetch"} 7
    """
    lines: list[str] = []
    for family in registry.families():
        lines.append(f"# HELP {family.name} {family.doc.translate(_HELP)}")
        lines.append(f"# TYPE {family.name} {family.kind.value}")
        lines.extend(_samples(family))
    lines.append("")
    return "\n".join(lines)


def _samples(family: MetricFamily) -> Iterator[str]:
    name = family.name
    if family.collect is not None:
        for collected, number in family.collect():
            yield f"{name}{_labels(collected.items())} {_number(number)}"
        return
    for labels, metric in sorted(family.metrics.items()):
        if isinstance(metric, Histogram):
            yield from _summary(name, labels, metric)
        else:
            yield f"{name}{_labels(labels)} {_number(metric.value)}"


def _summary(name: str, labels: Iterable[tuple[str, str]], histogram: Histogram) -> Iterator[str]:
    for quantile, value in zip(QUANTILES, histogram.quantiles(QUANTILES), strict=True):
        yield f"{name}{_labels([*labels, ('quantile', str(quantile))])} {_number(value)}"
    yield f"{name}_sum{_labels(labels)} {_number(histogram.sum)}"
    yield f"{name}_count{_labels(labels)} {histogram.count}"


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    pairs = ",".join(f'{name}="{value.translate(_VALUE)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _number(value: int | float) -> str:
    """A number as Prometheus reads it.

    >>> _number(3), _number(2.5), _number(True), _number(math.inf), _number(-math.inf), _number(math.nan)
    ('3', '2.5', '1', '+Inf', '-Inf', 'NaN')
    """
    if isinstance(value, int):
        return str(int(value))
    if math.isfinite(value):
        return repr(value)
    return "NaN" if math.isnan(value) else ("+Inf" if value > 0 else "-Inf")
