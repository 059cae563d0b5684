"""Progress is shown on terminals only, not too often, and is gone in the end."""

import io

from ottla.cli.output.progress import Progress
from tests.unit.cli.output.test_style import Terminal


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_a_pipe_sees_nothing() -> None:
    stream = io.StringIO()
    with Progress("read", 10, stream=stream) as progress:
        progress.update(5)
    assert stream.getvalue() == ""


def test_a_terminal_sees_how_far_how_fast_and_how_long() -> None:
    stream, clock = Terminal(), Clock()
    with Progress("read", 1000, stream=stream, clock=clock) as progress:
        clock.now_s += 10
        progress.update(250)
        drawn = stream.getvalue()
        progress.update(260)
        assert stream.getvalue() == drawn, "nothing new within a tenth of a second"
    plain = drawn.replace("\x1b[1m", "").replace("\x1b[2m", "").replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert "25%  250 of 1,000  25/s  30 s left" in plain
    assert stream.getvalue().endswith("\r\x1b[K"), "the bar is taken away"


def test_work_without_a_known_end_has_no_bar() -> None:
    stream, clock = Terminal(), Clock()
    with Progress("read", stream=stream, clock=clock) as progress:
        clock.now_s += 2
        progress.update(50)
    assert "%" not in stream.getvalue()
    assert "25/s" in stream.getvalue()
