import math
import random

import pytest

from ottla.base.metric import Counter, Histogram, MetricRegistry


def test_a_counter_adds_up() -> None:
    counter = Counter()
    counter.add()
    counter.add(4)
    counter.value += 5
    assert counter.value == 10


def test_the_same_name_and_labels_are_the_same_metric() -> None:
    registry = MetricRegistry()
    first = registry.counter("in_total", "In.", topic="a", client="x")
    assert registry.counter("in_total", "In.", client="x", topic="a") is first
    assert registry.counter("in_total", "In.", topic="b", client="x") is not first


def test_a_name_has_one_kind_and_one_set_of_labels() -> None:
    registry = MetricRegistry()
    registry.counter("in_total", "In.", topic="a")
    with pytest.raises(ValueError, match="is a counter already"):
        registry.histogram("in_total", "In.", topic="a")
    with pytest.raises(ValueError, match="has the labels"):
        registry.counter("in_total", "In.")
    with pytest.raises(ValueError, match="no name for a metric"):
        registry.counter("in-total", "In.")


def test_a_gauge_is_read_when_asked_and_can_be_replaced() -> None:
    registry = MetricRegistry()
    sizes = [1]
    gauge = registry.gauge("size", "Size.", lambda: len(sizes))
    sizes.append(2)
    assert gauge.value == 2
    registry.gauge("size", "Size.", lambda: -1)
    (family,) = registry.families()
    assert [metric.value for metric in family.metrics.values() if not isinstance(metric, Histogram)] == [-1]


def test_a_removed_metric_is_gone_and_its_name_is_free() -> None:
    registry = MetricRegistry()
    registry.counter("in_total", "In.", topic="a").add(3)
    registry.counter("in_total", "In.", topic="b")
    registry.remove("in_total", topic="a")
    assert registry.counter("in_total", "In.", topic="a").value == 0
    registry.remove("in_total")
    registry.remove("in_total", topic="never there")
    assert list(registry.families()) == []
    registry.gauge("in_total", "Now something else.", lambda: 1)


@pytest.mark.parametrize("spread", ["uniform", "exponential", "lognormal"])
def test_quantiles_are_off_by_two_percent_at_most(spread: str) -> None:
    dice = random.Random(11)
    draw = {
        "uniform": lambda: dice.uniform(0.01, 500),
        "exponential": lambda: dice.expovariate(1 / 3.0) + 0.002,
        "lognormal": lambda: dice.lognormvariate(0, 3) + 0.002,
    }[spread]
    values = sorted(draw() for _ in range(20_000))
    histogram = Histogram()
    for value in values:
        histogram.record(value)
    shares = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
    exact = [values[math.ceil(share * len(values)) - 1] for share in shares]
    assert histogram.quantiles(shares) == pytest.approx(exact, rel=0.017)
    assert histogram.count == 20_000
    assert histogram.sum == pytest.approx(sum(values))


@pytest.mark.parametrize("value", [0.0625, 1, 1.5, 2, 3, 4, 1000, 2**31, 2.0**49])
def test_a_lone_value_is_every_quantile(value: float) -> None:
    histogram = Histogram()
    histogram.record(value)
    assert histogram.quantiles((0.0, 0.5, 1.0)) == pytest.approx([value] * 3, rel=0.017)


def test_values_beyond_the_buckets_count_at_the_ends() -> None:
    histogram = Histogram()
    for value in (0, 0.0001, 2.0**60, math.inf):
        histogram.record(value)
    low, high = histogram.quantiles((0.5, 1.0))
    assert low == 0
    assert high == pytest.approx(2.0**50, rel=0.017)
    assert histogram.count == 4


def test_quantiles_forget_what_is_two_periods_old() -> None:
    histogram = Histogram()
    histogram.record(100)
    histogram.rotate()
    histogram.record(1)
    assert histogram.quantiles((1.0,)) == pytest.approx([100], rel=0.017)
    histogram.rotate()
    assert histogram.quantiles((1.0,)) == pytest.approx([1], rel=0.017)
    histogram.rotate()
    assert math.isnan(histogram.quantiles((1.0,))[0])
    assert (histogram.count, histogram.sum) == (2, 101)


def test_the_registry_rotates_all_its_histograms() -> None:
    registry = MetricRegistry()
    histogram = registry.histogram("took_ms", "Time.", request="Fetch")
    histogram.record(5)
    registry.rotate()
    registry.rotate()
    assert math.isnan(histogram.quantiles((0.5,))[0])
