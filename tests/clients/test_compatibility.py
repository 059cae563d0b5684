"""The page that the tests write is up to date: what is tried stands on it, and what stands on it works."""

import os

import pytest

from tests.clients.compatibility import PAGE, client_of, exercise_of

pytestmark = pytest.mark.skipif("OTTLA_COMPATIBILITY" in os.environ, reason="the page is being written by this run")


def test_the_page_has_every_exercise(request: pytest.FixtureRequest) -> None:
    """`make compatibility` writes it anew."""
    page = PAGE.read_text()
    wanted = {(client, exercise_of(item)) for item in request.session.items if (client := client_of(item))}
    sections = {section.partition("\n")[0]: section for section in page.split("## ")[1:]}
    missing = [entry for entry in sorted(wanted) if f"| {entry[1]} |" not in sections.get(entry[0], "")]
    assert not missing


def test_everything_on_the_page_works() -> None:
    """A page that says otherwise is not to be committed."""
    page = PAGE.read_text()
    assert "**fails**" not in page
    assert "**differs**" not in page
