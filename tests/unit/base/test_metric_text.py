import pytest

from ottla.base.metric import MetricKind, MetricRegistry
from ottla.base.metric_text import render


def test_each_name_has_one_help_and_type_line_and_names_are_sorted() -> None:
    registry = MetricRegistry()
    registry.counter("b_total", "Bees.", topic="y").add(2)
    registry.counter("b_total", "Bees.", topic="x").add(1)
    registry.gauge("a", "An a.", lambda: 1.5)
    assert render(registry) == (
        "# HELP a An a.\n"
        "# TYPE a gauge\n"
        "a 1.5\n"
        "# HELP b_total Bees.\n"
        "# TYPE b_total counter\n"
        'b_total{topic="x"} 1\n'
        'b_total{topic="y"} 2\n'
    )


def test_label_values_and_help_are_escaped() -> None:
    registry = MetricRegistry()
    registry.counter("c_total", 'a "doc" with \\ and\nlines', client='q"\\\n').add()
    assert render(registry) == (
        '# HELP c_total a "doc" with \\\\ and\\nlines\n# TYPE c_total counter\nc_total{client="q\\"\\\\\\n"} 1\n'
    )


def test_a_histogram_is_a_summary_with_sum_and_count() -> None:
    registry = MetricRegistry()
    histogram = registry.histogram("took_ms", "Time.", request="Fetch")
    histogram.record(2)
    lines = render(registry).splitlines()
    assert lines[1] == "# TYPE took_ms summary"
    assert [line.split()[0] for line in lines[2:]] == [
        'took_ms{request="Fetch",quantile="0.5"}',
        'took_ms{request="Fetch",quantile="0.75"}',
        'took_ms{request="Fetch",quantile="0.95"}',
        'took_ms{request="Fetch",quantile="0.98"}',
        'took_ms{request="Fetch",quantile="0.99"}',
        'took_ms{request="Fetch",quantile="0.999"}',
        'took_ms_sum{request="Fetch"}',
        'took_ms_count{request="Fetch"}',
    ]
    assert [float(line.split()[1]) for line in lines[2:8]] == pytest.approx([2] * 6, rel=0.017)
    assert [line.split()[1] for line in lines[8:]] == ["2.0", "1"]


def test_a_histogram_that_saw_nothing_has_no_quantiles_yet() -> None:
    registry = MetricRegistry()
    registry.histogram("took_ms", "Time.")
    assert 'took_ms{quantile="0.5"} NaN\n' in render(registry)


def test_collected_numbers_are_those_of_the_moment() -> None:
    registry = MetricRegistry()
    sizes = {"0": 10}
    registry.collector("size", "Size.", lambda: (({"partition": index}, size) for index, size in sizes.items()))
    sizes["1"] = 20
    assert render(registry).splitlines()[2:] == ['size{partition="0"} 10', 'size{partition="1"} 20']
    with pytest.raises(ValueError, match="taken"):
        registry.collector("size", "Size.", lambda: ())
    with pytest.raises(ValueError, match="summary"):
        registry.collector("other", "Other.", lambda: (), MetricKind.SUMMARY)
