"""What a connector says of its tasks is stored as texts, or refused in words."""

from collections.abc import Sequence
from typing import Any

import pytest

from ottla.connect.connector import Settings, SinkTask, SourceConnector, SourceTask
from ottla.connect.errors import ConnectError
from ottla.connect.task_plan import task_configs


class Says(SourceConnector):
    """Says what it is told to."""

    def __init__(self, tasks: Any, task_class: Any = SourceTask) -> None:
        super().__init__()
        self._tasks, self._class = tasks, task_class

    def task_configs(self, tasks_max: int) -> Sequence[Settings]:
        found: Sequence[Settings] = self._tasks
        return found

    def task_class(self) -> type[SourceTask]:
        found: type[SourceTask] = self._class
        return found


def test_numbers_become_texts_and_null_is_left_out() -> None:
    [found] = task_configs(Says(({"a": 5, "b": None, "c": True, "d": 0.5, "e": "x"},)), {})
    assert found == {"a": "5", "c": "true", "d": "0.5", "e": "x", "task.class": "ottla.connect.connector.SourceTask"}


@pytest.mark.parametrize(
    ("tasks", "task_class", "words"),
    [
        (None, SourceTask, "Says.task_configs returned no list, but NoneType"),
        ([5], SourceTask, "Says.task_configs returned settings that are no dict, but int"),
        ([{"a": [1]}], SourceTask, "Says.task_configs returned a setting that is no text, but list"),
        ([{}], int, "Says.task_class returned no subclass of SourceTask"),
        ([{}], SinkTask, "Says.task_class returned no subclass of SourceTask"),
        ([{}], None, "Says.task_class returned no subclass of SourceTask"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(tasks: Any, task_class: Any, words: str) -> None:
    with pytest.raises(ConnectError, match=words):
        task_configs(Says(tasks, task_class), {})
