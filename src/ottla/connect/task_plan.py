"""Shares the work of a connector among tasks: the settings of each. Uses neither Spark nor Kafka.

The result is what Kafka's config topic has in its `task-X-N` records. A connector whose result would change reports
so by `has_changed`.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

from ottla.connect.connector import Connector, SinkConnector, SinkTask, SourceConnector, SourceTask
from ottla.connect.errors import ConnectError, IllegalArgumentError, InvalidConfigError

T = TypeVar("T")
TASK_CLASS = "task.class"


def task_configs(connector: Connector, config: Mapping[str, str]) -> list[dict[str, str]]:
    """The settings of each task of a connector that was started with `config`.

    >>> from ottla.connect.plugin import Plugins
    >>> connector = Plugins().connector("FileStreamSource")
    >>> config = {"file": "a.txt", "topic": "lines", "tasks.max": "4"}
    >>> connector.start(config)
    >>> [each["task.class"] for each in task_configs(connector, config)]
    ['org.apache.kafka.connect.file.FileStreamSourceTask']
    """
    most = _tasks_max(config)
    found = _texts(connector, connector.task_configs(most))
    is_enforced = config.get("tasks.max.enforce", "true").strip().lower() != "false"
    if len(found) > most and is_enforced:
        raise ConnectError(
            f"The connector {config.get('name', '')} has generated {len(found)} tasks, which is greater than {most}, "
            "the maximum number of tasks it is configured to create."
        )
    name = _task_class_name(connector)
    return [{**each, TASK_CLASS: name} for each in found]


def _texts(connector: Connector, given: object) -> list[dict[str, str]]:
    """The settings as texts, which they are in Kafka's topic; numbers and booleans are written as such."""
    who = type(connector).__name__
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ConnectError(f"{who}.task_configs returned no list, but {type(given).__name__}")
    found = []
    for each in given:
        if not isinstance(each, Mapping):
            raise ConnectError(f"{who}.task_configs returned settings that are no dict, but {type(each).__name__}")
        found.append({_text(who, name): _text(who, value) for name, value in each.items() if value is not None})
    return found


def _text(who: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise ConnectError(f"{who}.task_configs returned a setting that is no text, but {type(value).__name__}")
    return str(value)


def group_partitions(parts: Sequence[T], groups: int) -> list[list[T]]:
    """Parts of a source in so many groups, for tasks: neighbours stay together, the first groups have one more.

    >>> group_partitions([1, 2, 3, 4, 5], 3)
    [[1, 2], [3, 4], [5]]
    """
    if groups <= 0:
        raise IllegalArgumentError("Number of groups must be positive.")
    size, more = divmod(len(parts), groups)
    starts = [number * size + min(number, more) for number in range(groups + 1)]
    return [list(parts[start:end]) for start, end in pairwise(starts)]


def _tasks_max(config: Mapping[str, str]) -> int:
    given = config.get("tasks.max", "1").strip()
    try:
        most = int(given)
    except ValueError:
        raise InvalidConfigError.of("tasks.max", given, "Not a number of type INT") from None
    if most < 1:
        raise InvalidConfigError.of("tasks.max", most, "Value must be at least 1")
    return most


def _task_class_name(connector: Connector) -> str:
    """Kafka's name of the class where it has one, else `module.Class`."""
    if not isinstance(connector, (SourceConnector, SinkConnector)):
        raise ConnectError(f"{type(connector).__name__} is neither a source nor a sink")
    found = connector.task_class()
    wanted = SourceTask if isinstance(connector, SourceConnector) else SinkTask
    if not isinstance(found, type) or not issubclass(found, wanted):
        raise ConnectError(f"{type(connector).__name__}.task_class returned no subclass of {wanted.__name__}")
    return found.java_name or f"{found.__module__}.{found.__qualname__}"
