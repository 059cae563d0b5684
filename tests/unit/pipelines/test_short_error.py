"""What Spark prints of an error: the text that was meant for its reader, and little else."""

import traceback
from collections.abc import Iterator

import pytest

from ottla.pipelines.option.errors import OptionError
from ottla.pipelines.short_error import short_errors, short_errors_of_rows


def _fail(error: Exception) -> None:
    try:
        raise KeyError("inner")
    except KeyError as inner:
        raise error from inner


@short_errors
def plan(error: Exception) -> int:
    _fail(error)
    return 1


@short_errors_of_rows
def read(error: Exception) -> Iterator[int]:
    yield 1
    _fail(error)


@pytest.mark.parametrize("call", [plan, lambda error: list(read(error))], ids=["plan", "read"])
def test_an_error_that_was_foreseen_goes_on_alone(call: object) -> None:
    with pytest.raises(OptionError) as caught:
        call(OptionError("topic", "is empty"))  # type: ignore[operator]
    text = "".join(traceback.format_exception(caught.value))
    assert "option 'topic': is empty" in text
    assert "inner" not in text
    assert "_fail" not in text


def test_an_error_that_nobody_has_foreseen_keeps_everything() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        plan(ZeroDivisionError())
    text = "".join(traceback.format_exception(caught.value))
    assert "inner" in text
    assert "_fail" in text


def test_rows_come_before_the_error() -> None:
    rows = read(OptionError("topic", "is empty"))
    assert next(rows) == 1
