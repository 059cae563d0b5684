"""File names of segments."""

import pytest

from ottla.storage.segment import file_name


def test_names_go_there_and_back() -> None:
    for kind in (*file_name.SEGMENT_FILES, file_name.SNAPSHOT):
        for transient in ("", *file_name.TRANSIENT):
            name = file_name.name_of(42, kind, transient)
            assert file_name.parse(name) == (42, kind, transient)


@pytest.mark.parametrize(
    "name",
    [
        "leader-epoch-checkpoint",
        "42.log",
        "0000000000000000004x.log",
        "00000000000000000042",
        "00000000000000000042.bak",
        "00000000000000000042.log.old",
        "00000000000000000000-0000000001.checkpoint",
    ],
)
def test_other_files_are_left_alone(name: str) -> None:
    assert file_name.parse(name) is None
