"""Quantities as people read them."""

import pytest

from ottla.cli.output.quantity import bytes_text, counted, duration_text, moment_text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_949, "999.9 kB"), (999_999, "1.0 MB"), (5e12, "5.0 TB")],
)
def test_sizes(size: float, text: str) -> None:
    assert bytes_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"), (0.25, "250 ms"), (1.5, "1.5 s"), (59.6, "1 min"), (60, "1 min"), (3_601, "1 h"),
        (7_260, "2 h 1 min"), (864_000, "10 d"),
    ],
)  # fmt: skip
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_a_timestamp_that_is_no_time_stays_a_number() -> None:
    assert moment_text(2**62) == str(2**62)
    assert moment_text(1_700_000_000_123).endswith(".123")


def test_plurals() -> None:
    assert [counted(0, "record"), counted(1, "record"), counted(2, "API")] == ["0 records", "1 record", "2 APIs"]
