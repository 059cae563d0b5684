"""The limit of open descriptors, of this very process."""

import os
import resource
from collections.abc import Iterator

import pytest

from ottla.net import descriptor


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    """The limits as they were, and are again afterwards."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_server_takes_all_that_the_system_allows(limits: tuple[int, int]) -> None:
    _, hard = limits
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
    descriptor.raise_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)


def test_the_last_eighth_is_for_files(limits: tuple[int, int]) -> None:
    lowest_free = os.dup(0)
    os.close(lowest_free)
    for limit, is_short in ((2 * lowest_free + 64, False), (lowest_free + 1, True), (lowest_free, True)):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limits[1]))
        assert descriptor.is_short(0) is is_short, limit
