"""`auto.offset.reset` and its durations."""

import pytest

from ottla.base.config import ConfigError
from ottla.client.consumer.offset.offset_reset import OffsetReset, ResetKind


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [
        ("by_duration:P1D", 86_400_000),
        ("by_duration:PT1H", 3_600_000),
        ("by_duration:P2DT3H4M5.5S", 2 * 86_400_000 + 3 * 3_600_000 + 4 * 60_000 + 5_500),
        ("by_duration:PT0.001S", 1),
    ],
)
def test_durations(text: str, duration_ms: int) -> None:
    reset = OffsetReset.parse(text)
    assert (reset.kind, reset.duration_ms) == (ResetKind.BY_DURATION, duration_ms)
    assert reset.timestamp(now_ms=10**12) == 10**12 - duration_ms


@pytest.mark.parametrize(
    "text", ["", "newest", "by_duration", "by_duration:", "by_duration:P", "by_duration:1h", "latest:PT1H"]
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"auto\.offset\.reset"):
        OffsetReset.parse(text)


def test_ends() -> None:
    assert OffsetReset.parse("earliest").timestamp(5) == -2
    assert OffsetReset.parse("latest").timestamp(5) == -1
