"""Colours go to terminals only, and nobody's record drives a terminal."""

import io

import pytest

from ottla.cli.output.style import Style, Tone, Toned, printable, width


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "is_coloured"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"NO_COLOR": ""}, True),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_who_gets_colours(stream: io.StringIO, environment: dict[str, str], is_coloured: bool) -> None:
    painted = Style.of(stream, environment).paint(Toned("offline", Tone.BAD))
    assert painted == ("\x1b[31moffline\x1b[0m" if is_coloured else "offline")


def test_control_characters_are_shown_and_not_obeyed() -> None:
    assert printable("safe\x1b]0;title\x07\x9b31m") == "safe\\x1b]0;title\\x07\\x9b31m"
    assert printable("two\nlines\tand a tab, and é") == "two\nlines\tand a tab, and é"


@pytest.mark.parametrize(("text", "columns"), [("orders", 6), ("注文", 4), ("e\u0301", 1), ("", 0)])
def test_the_width_is_what_a_terminal_needs(text: str, columns: int) -> None:
    assert width(text) == columns
