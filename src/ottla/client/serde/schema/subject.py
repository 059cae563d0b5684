"""Under which subject a schema is kept: Confluent's three strategies, or a function of the user's."""

from collections.abc import Callable
from typing import Final

from ottla.base.config import ConfigError
from ottla.base.frozen import frozen
from ottla.client.errors import SerializationError

_JAVA_PACKAGES: Final = ("io.confluent.kafka.serializers.subject.",)


@frozen
class SubjectContext:
    """The input of a strategy; `record_name` is None for schemas without a name."""

    topic: str
    is_key: bool
    record_name: str | None


Strategy = Callable[[SubjectContext], str]


def topic_name(context: SubjectContext) -> str:
    """`orders-value`: one kind of record in a topic.

    >>> topic_name(SubjectContext("orders", False, "shop.Order"))
    'orders-value'
    """
    return f"{context.topic}-{'key' if context.is_key else 'value'}"


def record_name(context: SubjectContext) -> str:
    """`shop.Order`: a record evolves as one in all topics."""
    return _named(context, "record")


def topic_record_name(context: SubjectContext) -> str:
    """`orders-shop.Order`: several kinds of records in a topic."""
    return f"{context.topic}-{_named(context, 'topic-record')}"


_BY_NAME: Final[dict[str, Strategy]] = {
    "TOPIC": topic_name,
    "RECORD": record_name,
    "TOPIC_RECORD": topic_record_name,
    "TopicNameStrategy": topic_name,
    "RecordNameStrategy": record_name,
    "TopicRecordNameStrategy": topic_record_name,
}


def strategy_of(given: object) -> Strategy:
    """The strategy that a setting names: by Confluent's short name, by its Java class, or a callable."""
    if isinstance(given, str):
        name = given
        for package in _JAVA_PACKAGES:
            name = name.removeprefix(package)
        found = _BY_NAME.get(name) or _BY_NAME.get(name.upper())
        if found is not None:
            return found
    elif callable(given):
        return given
    expected = f"Expected one of {', '.join(_BY_NAME)}, or a callable"
    raise ConfigError("subject.name.strategy", given, expected)


def needs_record_name(strategy: Strategy) -> bool:
    """Whether a reader has to know the schema before it knows the subject."""
    return strategy is not topic_name


def _named(context: SubjectContext, strategy: str) -> str:
    if context.record_name is None:
        raise SerializationError(f"the {strategy} name strategy needs a schema with a name")
    return context.record_name
