"""Times and durations on the command line."""

import pytest

from ottla.cli.kafka.argument.moment import DurationError, MomentError, parse_duration_ms, parse_moment_ms


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00.000", 0),
        ("1970-01-01T00:00:00.000Z", 0),
        ("1970-01-01T02:30:00.000+02:30", 0),
        ("1970-01-01T00:00:00.000-01", 3_600_000),
        ("2020-02-29T12:00:00.123", 1_582_977_600_123),
    ],
)
def test_times(text: str, expected: int) -> None:
    assert parse_moment_ms(text) == expected


@pytest.mark.parametrize("text", ["2020-01-01", "2020-01-01T", "2020-13-01T00:00:00.000", "T"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(MomentError, match="ParseException"):
        parse_moment_ms(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("P1D", 86_400_000), ("PT1H30M", 5_400_000), ("pt1.5s", 1_500), ("-P1D", -86_400_000), ("PT-5M", -300_000)],
)
def test_durations(text: str, expected: int) -> None:
    assert parse_duration_ms(text) == expected


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "P1Y"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(DurationError, match="cannot be parsed"):
        parse_duration_ms(text)
