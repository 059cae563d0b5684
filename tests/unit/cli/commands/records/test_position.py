"""Points in logs as people name them."""

from datetime import datetime

import pytest

from ottla.cli.commands.records.position import Point, PointKind, parse_point
from ottla.cli.output.advice import CommandError

NOW_MS = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("beginning", Point(PointKind.BEGINNING)),
        ("earliest", Point(PointKind.BEGINNING)),
        ("end", Point(PointKind.END)),
        ("latest", Point(PointKind.END)),
        ("0", Point(PointKind.OFFSET, 0)),
        ("-10", Point(PointKind.LAST, 10)),
        ("@1700000000000", Point(PointKind.TIME, 1_700_000_000_000)),
        ("90s", Point(PointKind.TIME, NOW_MS - 90_000)),
        ("1.5h", Point(PointKind.TIME, NOW_MS - 5_400_000)),
        ("2d ago", Point(PointKind.TIME, NOW_MS - 172_800_000)),
        ("2023-11-14T22:13:20Z", Point(PointKind.TIME, NOW_MS)),
        ("2023-11-14T23:13:20+01:00", Point(PointKind.TIME, NOW_MS)),
    ],
)
def test_points(text: str, point: Point) -> None:
    assert parse_point(text, NOW_MS) == point


def test_a_time_without_a_zone_is_local() -> None:
    here = datetime(2026, 1, 31, 8, 0).astimezone()
    assert parse_point("2026-01-31T08:00") == Point(PointKind.TIME, round(here.timestamp() * 1000))


@pytest.mark.parametrize("text", ["", "yesterday", "1x", "--1"])
def test_what_is_no_point_is_refused_with_examples(text: str) -> None:
    with pytest.raises(CommandError, match="is no point in a log: give beginning, end"):
        parse_point(text)
