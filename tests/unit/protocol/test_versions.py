"""Version ranges, as they are written in definitions."""

import pytest

from ottla.protocol.versions import VersionRange


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [("3", [3], [2, 4]), ("3-7", [3, 5, 7], [2, 8]), ("3+", [3, 100, 0x7FFF], [2, -1]), ("none", [], [-1, 0, 1])],
)
def test_ranges(text: str, inside: list[int], outside: list[int]) -> None:
    versions = VersionRange.parse(text)
    assert all(versions.includes(version) for version in inside)
    assert not any(versions.includes(version) for version in outside)
    assert str(versions) == text
