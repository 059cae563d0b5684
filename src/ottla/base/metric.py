"""A process's metrics: counters, histograms and gauges, held by the registry that is passed around.

`metric_text` renders them. Nothing here is global, reads a clock or takes a lock: `add` and `record` are a few
bytecodes, made for one writing thread (the event loop); a reader on another thread sees a slightly older state.

Invariants: one name is one kind of metric with one set of label names; a histogram's memory is bounded whatever is
recorded; its quantiles are off by 1.6 % at most.
"""

import enum
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import frexp
from typing import Final, TypeAlias, TypeVar

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""A metric's labels: name and value, in the order of the names."""

QUANTILES: Final = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
"""The quantiles that Kafka reports for its histograms."""

_SMALLEST: Final = 2.0**-10
_LARGEST: Final = 2.0**50
_STEPS: Final = 32
"""Buckets for each power of two: a bucket is 1/32 of its lower bound wide, or less."""
_TINY: Final = -1_000
"""The bucket of all that is smaller than `_SMALLEST`, which includes zero."""
_HUGE: Final = 51 * _STEPS + _STEPS
"""The bucket that begins at `_LARGEST`."""


class Counter:
    """A number that only grows.

    >>> requests = Counter()
    >>> requests.add()
    >>> requests.value += 2
    >>> requests.value
    3
    """

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: int | float = 0
        """The count; the hot path may add to it directly."""

    def add(self, count: int | float = 1) -> None:
        """Count `count` more."""
        self.value += count


Meter: TypeAlias = Counter
"""Kafka's word for a counter whose rate matters: the scraper derives the rate from the count."""


class Gauge:
    """A number that is computed when the metrics are read."""

    __slots__ = ("read",)

    def __init__(self, read: Callable[[], int | float]) -> None:
        self.read: Final = read

    @property
    def value(self) -> int | float:
        """The number now."""
        return self.read()


class Histogram:
    """How values spread: count and sum since the start, quantiles over the last two periods (see `rotate`).

    Values fall into buckets that widen with the value, so that microseconds and minutes fit beside each other; only
    buckets that were hit take memory, and there are less than 2,000.

    >>> took_ms = Histogram()
    >>> for value in range(1, 1001):
    ...     took_ms.record(value)
    >>> took_ms.count, took_ms.sum
    (1000, 500500.0)
    >>> [round(value) for value in took_ms.quantiles((0.5, 0.99))]
    [500, 984]
    """

    __slots__ = ("_earlier", "_recent", "count", "sum")

    def __init__(self) -> None:
        self.count = 0
        self.sum = 0.0
        self._recent: dict[int, int] = {}
        self._earlier: dict[int, int] = {}

    def record(self, value: int | float) -> None:
        """Take in one value: zero or more, in whatever unit the metric's name says."""
        self.count += 1
        self.sum += value
        if _SMALLEST <= value < _LARGEST:
            fraction, exponent = frexp(value)
            bucket = exponent * _STEPS + int(fraction * 64.0)
        else:
            bucket = _HUGE if value >= _LARGEST else _TINY
        recent = self._recent
        recent[bucket] = recent.get(bucket, 0) + 1

    def rotate(self) -> None:
        """Begin a period: quantiles forget what was recorded before the one that ends now."""
        self._earlier = self._recent
        self._recent = {}

    def quantiles(self, wanted: Sequence[float] = QUANTILES) -> list[float]:
        """The value below which each `wanted` share of the values lies; NaN when there are none. `wanted` ascends."""
        counts = self._recent.copy()
        for bucket, count in self._earlier.copy().items():
            counts[bucket] = counts.get(bucket, 0) + count
        if not counts:
            return [math.nan] * len(wanted)
        total = sum(counts.values())
        found: list[float] = []
        buckets = iter(sorted(counts))
        bucket = next(buckets)
        below = counts[bucket]
        for share in wanted:
            while below < share * total and below < total:
                bucket = next(buckets)
                below += counts[bucket]
            found.append(_middle(bucket))
        return found


def _middle(bucket: int) -> float:
    """The value that stands for a bucket: what `record` put there is at most half a bucket away."""
    if bucket == _TINY:
        return 0.0
    # record: fraction in [0.5, 1) gives 32..63, so a bucket number is exponent * 32 + that.
    exponent, step = divmod(bucket - _STEPS, _STEPS)
    return math.ldexp((step + _STEPS + 0.5) / 64.0, exponent)


class MetricKind(enum.Enum):
    """How a metric behaves, in the words of the Prometheus format."""

    COUNTER = "counter"
    GAUGE = "gauge"
    SUMMARY = "summary"


Metric: TypeAlias = Counter | Gauge | Histogram
Samples: TypeAlias = Iterable[tuple[Mapping[str, str], int | float]]
_KIND: Final = {Counter: MetricKind.COUNTER, Gauge: MetricKind.GAUGE, Histogram: MetricKind.SUMMARY}
_M = TypeVar("_M", Counter, Gauge, Histogram)


class MetricFamily:
    """Everything under one name: a metric for each set of label values, or a function that lists the samples."""

    __slots__ = ("collect", "doc", "kind", "metrics", "name")

    def __init__(self, name: str, doc: str, kind: MetricKind, collect: Callable[[], Samples] | None = None) -> None:
        if not (name.isascii() and name.isidentifier()):
            raise ValueError(f"{name!r} is no name for a metric")
        self.name: Final = name
        self.doc: Final = doc
        self.kind: Final = kind
        self.collect: Final = collect
        self.metrics: Final[dict[Labels, Metric]] = {}


class MetricRegistry:
    """All metrics of a process; asking twice for a name and labels gives the same metric.

    >>> registry = MetricRegistry()
    >>> registry.counter("requests_total", "Requests served.", api="Fetch").add(7)
    >>> registry.counter("requests_total", "Requests served.", api="Fetch").value
    7
    """

    __slots__ = ("_families",)

    def __init__(self) -> None:
        self._families: Final[dict[str, MetricFamily]] = {}

    def counter(self, name: str, doc: str, **labels: str) -> Counter:
        """The counter of this name and these labels; by custom the name ends in `_total`."""
        return self._get_or_add(name, doc, labels, Counter)

    def histogram(self, name: str, doc: str, **labels: str) -> Histogram:
        """The histogram of this name and these labels."""
        return self._get_or_add(name, doc, labels, Histogram)

    def gauge(self, name: str, doc: str, function: Callable[[], int | float], **labels: str) -> Gauge:
        """A gauge that reads `function`; it replaces the one that had this name and these labels."""
        gauge = Gauge(function)
        family = self._family(name, doc, MetricKind.GAUGE)
        family.metrics[_sorted(family, labels)] = gauge
        return gauge

    def collector(
        self, name: str, doc: str, collect: Callable[[], Samples], kind: MetricKind = MetricKind.GAUGE
    ) -> None:
        """Numbers that `collect` lists with their labels when the metrics are read.

        This is the form for something of which there may be many thousands, as partitions: nothing is held, made
        or removed for each of them.

        >>> registry = MetricRegistry()
        >>> sizes = {("orders", 0): 512}
        >>> registry.collector("log_size", "Bytes.", lambda: (
        ...     ({"topic": topic, "partition": str(index)}, size) for (topic, index), size in sizes.items()))
        """
        if name in self._families or kind is MetricKind.SUMMARY:
            raise ValueError(f"{name} is taken, or no {kind.value} can be collected")
        self._families[name] = MetricFamily(name, doc, kind, collect)

    def remove(self, name: str, **labels: str) -> None:
        """Forget one metric; with no labels, everything under the name. What is not there is forgotten already."""
        family = self._families.get(name)
        if family is None:
            return
        if labels:
            family.metrics.pop(tuple(sorted(labels.items())), None)
        if not labels or not family.metrics:
            del self._families[name]

    def rotate(self) -> None:
        """Begin a period for every histogram's quantiles; call it every few minutes."""
        for family in self.families():
            if family.kind is MetricKind.SUMMARY:
                for metric in list(family.metrics.values()):
                    if isinstance(metric, Histogram):
                        metric.rotate()

    def families(self) -> Iterator[MetricFamily]:
        """Everything there is, by name."""
        return iter(sorted(self._families.values(), key=lambda family: family.name))

    def _get_or_add(self, name: str, doc: str, labels: dict[str, str], create: type[_M]) -> _M:
        family = self._family(name, doc, _KIND[create])
        key = _sorted(family, labels)
        found = family.metrics.get(key)
        if isinstance(found, create):
            return found
        made = create()  # type: ignore[call-arg]
        family.metrics[key] = made
        return made

    def _family(self, name: str, doc: str, kind: MetricKind) -> MetricFamily:
        family = self._families.get(name)
        if family is None:
            family = self._families[name] = MetricFamily(name, doc, kind)
        elif family.kind is not kind or family.collect is not None:
            raise ValueError(f"{name} is a {family.kind.value} already")
        return family


def _sorted(family: MetricFamily, labels: dict[str, str]) -> Labels:
    """`labels` as a key; they must have the names that the family's others have."""
    key = tuple(sorted(labels.items()))
    if family.metrics:
        names = [name for name, _ in next(iter(family.metrics))]
        if names != [name for name, _ in key]:
            raise ValueError(f"{family.name} has the labels {names}, not {sorted(labels)}")
    return key
