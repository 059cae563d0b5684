"""The settings that every connector has, and those of all sources and of all sinks.

What a connector defines itself comes on top, and its transforms and predicates add theirs (`enrichment`). Ours beside
Kafka's: `tasks.restart.*`, and dead letters for sources.
"""

import re
from typing import Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigDef, ConfigKey, Importance, Recommend, Width
from ottla.connect.config.validator import (
    NON_EMPTY,
    NON_NULL,
    PRINTABLE,
    AllOf,
    AnyOf,
    AnyOfIgnoringCase,
    Distinct,
    InRange,
    Sentence,
    Validator,
)  # fmt: skip
from ottla.connect.transform.java_regex import compiled
from ottla.connect.transform.router import REGEX

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
COMMON, TRANSFORMS, PREDICATES, ERRORS = "Common", "Transforms", "Predicates", "Error Handling"
_DLQ: Final = "errors.deadletterqueue."


def _duplicate(value: object) -> str | None:
    items = value if isinstance(value, (list, tuple)) else ()
    return "Duplicate alias provided." if len(set(items)) < len(items) else None


def aliases(kind: str) -> Validator:
    """A list of names that are given once each."""
    return AllOf((NON_NULL, Sentence(_duplicate, f"unique {kind} aliases")))


def _key(
    name: str, kind: ConfigType, default: object, doc: str, look: tuple[str, int, Width, str], **more: object
) -> ConfigKey:
    group, order, width, display = look
    return ConfigKey(name, kind, default, doc, group=group, order=order, width=width, display=display, **more)  # type: ignore[arg-type]


def _converters(recommend: Recommend | None, defaults: dict[str, str]) -> list[ConfigKey]:
    keys: list[ConfigKey] = []
    for order, part in ((6, "key"), (8, "value"), (10, "header")):
        name = f"{part}.converter"
        look = (COMMON, order, Width.SHORT, f"{part.capitalize()} converter class")
        doc = f"The converter of {part}s; the worker's where it is not given."
        keys.append(_key(name, ConfigType.CLASS, defaults.get(name), doc, look, importance=LOW, recommend=recommend))
        look = (COMMON, order + 1, Width.SHORT, f"{part.capitalize()} converter version")
        keys.append(
            _key(f"{name}.plugin.version", ConfigType.STRING, None, "The converter's version.", look, importance=LOW)
        )
    return keys


def common_keys(recommend: Recommend | None = None, defaults: dict[str, str] | None = None) -> list[ConfigKey]:
    """Those of sources and sinks alike."""
    return [
        _key("name", ConfigType.STRING, REQUIRED, "The connector's name in the cluster.",
             (COMMON, 1, Width.MEDIUM, "Connector name"), importance=HIGH, validator=PRINTABLE),
        _key("connector.class", ConfigType.STRING, REQUIRED, "The class: its full name, or its last part with or "
             "without `Connector`, or `module:Class`.", (COMMON, 2, Width.LONG, "Connector class"), importance=HIGH),
        _key("connector.plugin.version", ConfigType.STRING, None, "The connector's version.",
             (COMMON, 3, Width.MEDIUM, "Connector version")),
        _key("tasks.max", ConfigType.INT, 1, "How many tasks there may be.", (COMMON, 4, Width.SHORT, "Tasks max"),
             importance=HIGH, validator=InRange(1)),
        _key("tasks.max.enforce", ConfigType.BOOLEAN, True, "Whether a connector that makes more tasks fails.",
             (COMMON, 5, Width.SHORT, "Enforce tasks max"), importance=LOW),
        *_converters(recommend, defaults or {}),
        _key("transforms", ConfigType.LIST, (), "Aliases of transforms, in the order in which they are applied.",
             (TRANSFORMS, 12, Width.LONG, "Transforms"), importance=LOW, validator=aliases("transformation")),
        _key("predicates", ConfigType.LIST, (), "Aliases of predicates that transforms may name.",
             (PREDICATES, 13, Width.LONG, "Predicates"), importance=LOW, validator=aliases("predicate")),
        _key("config.action.reload", ConfigType.STRING, "restart", "What follows when a value of a provider changes.",
             (COMMON, 14, Width.MEDIUM, "Reload Action"), importance=LOW, validator=AnyOf("none", "restart")),
        *_error_keys(),
    ]  # fmt: skip


def _error_keys() -> list[ConfigKey]:
    return [
        _key("errors.retry.timeout", ConfigType.LONG, 0, "How long a failed operation is retried, in ms; -1: for ever.",
             (ERRORS, 1, Width.MEDIUM, "Retry Timeout for Errors")),
        _key("errors.retry.delay.max.ms", ConfigType.LONG, 60_000, "The longest pause between retries.",
             (ERRORS, 2, Width.MEDIUM, "Maximum Delay Between Retries for Errors")),
        _key("errors.tolerance", ConfigType.STRING, "none", "`all` skips records that cannot be converted.",
             (ERRORS, 3, Width.SHORT, "Error Tolerance"), validator=AnyOf("none", "all")),
        _key("errors.log.enable", ConfigType.BOOLEAN, False, "Whether tolerated errors are logged.",
             (ERRORS, 4, Width.SHORT, "Log Errors")),
        _key("errors.log.include.messages", ConfigType.BOOLEAN, False, "Whether the log says where the record was.",
             (ERRORS, 5, Width.SHORT, "Log Error Details")),
    ]  # fmt: skip


def dead_letter_keys() -> list[ConfigKey]:
    """The settings of dead letters, which sources have here, too."""
    return [
        _key(f"{_DLQ}topic.name", ConfigType.STRING, "", "The topic of dead letters; empty is none.",
             (ERRORS, 6, Width.MEDIUM, "Dead Letter Queue Topic Name")),
        _key(f"{_DLQ}topic.replication.factor", ConfigType.SHORT, 3, "Replicas of that topic where it is created.",
             (ERRORS, 7, Width.MEDIUM, "Dead Letter Queue Topic Replication Factor")),
        _key(f"{_DLQ}context.headers.enable", ConfigType.BOOLEAN, False, "Whether headers tell what went wrong.",
             (ERRORS, 8, Width.MEDIUM, "Enable Error Context Headers")),
    ]  # fmt: skip


def restart_keys() -> list[ConfigKey]:
    """The settings of automatic restarts of failed tasks, which Kafka lacks."""
    return [
        _key("tasks.restart.max", ConfigType.INT, -1, "How often in a row a failed task restarts; -1: always, "
             "0: never, as in Kafka.", (ERRORS, 9, Width.SHORT, "Automatic restarts"), importance=LOW,
             validator=InRange(-1)),
        _key("tasks.restart.backoff.ms", ConfigType.LONG, 1_000, "The pause before the first restart; it doubles.",
             (ERRORS, 10, Width.SHORT, "Restart back-off"), importance=LOW, validator=InRange(0)),
        _key("tasks.restart.backoff.max.ms", ConfigType.LONG, 60_000, "The longest pause before a restart.",
             (ERRORS, 11, Width.SHORT, "Longest restart back-off"), importance=LOW, validator=InRange(0)),
    ]  # fmt: skip


def sink_keys() -> list[ConfigKey]:
    """Those of sinks."""
    return [
        _key("topics", ConfigType.LIST, (), "The topics to read.", (COMMON, 4, Width.LONG, "Topics"), importance=HIGH,
             validator=Distinct(empty_allowed=True)),
        _key("topics.regex", ConfigType.STRING, "", "A regular expression of topics to read, instead of `topics`.",
             (COMMON, 4, Width.LONG, "Topics regex"), importance=HIGH, validator=REGEX),
        *dead_letter_keys(),
    ]  # fmt: skip


def _not_negative(name: str, value: object) -> None:
    if value is not None:
        InRange(0)(name, value)


def source_keys() -> list[ConfigKey]:
    """Those of sources."""
    group = "Exactly Once Support"
    return [
        _key("topic.creation.groups", ConfigType.LIST, (), "Groups of settings for topics that are created.",
             ("Topic Creation", 1, Width.LONG, "Topic Creation Groups"), importance=LOW,
             validator=aliases("topic creation groups")),
        _key("exactly.once.support", ConfigType.STRING, "requested", "`required` refuses a connector that cannot.",
             (group, 2, Width.SHORT, "Exactly once support"), validator=AnyOfIgnoringCase("REQUIRED", "REQUESTED")),
        _key("transaction.boundary", ConfigType.STRING, "poll", "What a transaction holds: poll, interval, connector.",
             (group, 3, Width.SHORT, "Transaction Boundary"),
             validator=AnyOfIgnoringCase("INTERVAL", "POLL", "CONNECTOR")),
        _key("transaction.boundary.interval.ms", ConfigType.LONG, None, "How long a transaction of an interval lasts.",
             (group, 4, Width.SHORT, "Transaction boundary interval"), importance=LOW, validator=_not_negative),
        _key("offsets.storage.topic", ConfigType.STRING, None, "An offsets topic for this connector alone.",
             ("offsets.topic", 1, Width.LONG, "Offsets topic"), importance=LOW, validator=NON_EMPTY),
    ]  # fmt: skip


SINK: Final = ConfigDef(*common_keys(), *sink_keys(), *restart_keys())
SOURCE: Final = ConfigDef(*common_keys(), *source_keys(), *dead_letter_keys(), *restart_keys())


def topics_problems(given: dict[str, str]) -> list[tuple[str, str]]:
    """The errors of a sink's choice of topics: pairs of setting and message."""
    topics, pattern = given.get("topics") or "", given.get("topics.regex") or ""
    dead = (given.get(f"{_DLQ}topic.name") or "").strip()
    found: list[tuple[str, str]] = []
    if topics.strip() and pattern.strip():
        sentence = "topics and topics.regex are mutually exclusive options, but both are set."
        found += [("topics", sentence), ("topics.regex", sentence)]
    if not topics.strip() and not pattern.strip():
        sentence = "Must configure one of topics or topics.regex"
        found += [("topics", sentence), ("topics.regex", sentence)]
    listed = [name.strip() for name in topics.split(",") if name.strip()]
    if dead and dead in listed:
        shown = ", ".join(dict.fromkeys(listed))
        found.append(("topics", f"The DLQ topic '{dead}' may not be included in the list of topics "
                                f"('topics=[{shown}]') consumed by the connector"))  # fmt: skip
    if dead and pattern.strip() and _matches(pattern, dead):
        found.append(("topics.regex", f"The DLQ topic '{dead}' may not be matched by the regex for the topics "
                                      f"('topics.regex={pattern}') consumed by the connector"))  # fmt: skip
    return found


def _matches(pattern: str, name: str) -> bool:
    try:
        return compiled(pattern).fullmatch(name) is not None
    except re.error:
        return False
