"""Validates a connector's configuration: its own settings, those of all connectors, its transforms and its converters.

Nothing is started. What only a start finds (a predicate that is not declared, a transform with nothing to do) fails the
task, as in Kafka.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ottla.base.frozen import frozen
from ottla.connect.config.connector_key import (
    common_keys,
    dead_letter_keys,
    restart_keys,
    sink_keys,
    source_keys,
    topics_problems,
)
from ottla.connect.config.definition import ConfigDef, ConfigKey, ConfigValue
from ottla.connect.connector import Connector, SinkConnector, SourceConnector
from ottla.connect.errors import ConnectError, NotFoundError
from ottla.connect.plugin import Plugins
from ottla.connect.worker.alias_key import Aliases
from ottla.connect.worker.config_state import raw
from ottla.connect.worker.converter_check import examine_converters
from ottla.connect.worker.definition_view import ConfigInfo, Examined
from ottla.connect.worker.refusal import RefusedError, bad

_OVERRIDES = ("producer.override.", "consumer.override.", "admin.override.")


@frozen
class WorkerFacts:
    """The worker's part of a validation."""

    converters: Mapping[str, str]
    """Its converters, by the name of the setting."""
    exactly_once: bool = False
    override_problem: Callable[[str, str], str | None] = lambda name, value: None
    """What is wrong with a setting of a client that a connector overrides."""


def validate(config: Mapping[str, str | None], facts: WorkerFacts, plugins: Plugins) -> ConfigInfo:
    """All of a configuration with all that is wrong. Raises `RefusedError` if there is no such connector.

    >>> config = {"name": "a", "connector.class": "FileStreamSource", "topic": "t", "tasks.max": "0"}
    >>> validate(config, WorkerFacts({}), Plugins()).errors
    ['Invalid value 0 for configuration tasks.max: Value must be at least 1']
    """
    connector = found_connector(config, plugins)
    given = dict(config)
    aliases = Aliases(given, plugins)
    base = base_definition(connector, facts, plugins, given).extended(aliases.keys)
    own, own_problems = _own(connector, given)
    problems = [*aliases.problems, *own_problems, *_problems(connector, given, facts)]
    settings = [*_examined(base, given, problems), *_examined(own, given, problems)]
    settings, converters = examine_converters(settings, given, plugins)
    settings += [*converters, *_overrides(given, facts)]
    return ConfigInfo(str(config["connector.class"]), _groups(settings), tuple(settings))


def check_valid(info: ConfigInfo) -> None:
    """Refuses a configuration with errors, in the words of Kafka."""
    if info.error_count:
        listed = "\n".join(info.errors)
        raise bad(
            f"Connector configuration is invalid and contains the following {info.error_count} error(s):\n{listed}\n"
            "You can also find the above list of errors at the endpoint "
            "`/connector-plugins/{connectorType}/config/validate`"
        )


def found_connector(config: Mapping[str, str | None], plugins: Plugins) -> Connector:
    """The connector that a configuration names. Raises `RefusedError`."""
    name = config.get("connector.class")
    if not name:
        shown = ", ".join(f"{key}={config[key]}" for key in sorted(config))
        raise bad(f"Connector config {{{shown}}} contains no connector type")
    try:
        return plugins.connector(name.strip())
    except ConnectError as error:
        raise bad(str(error)) from error
    except Exception as error:
        raise RefusedError(400, f"{name} cannot be made: {type(error).__name__}: {error}") from error


def base_definition(
    connector: Connector, facts: WorkerFacts, plugins: Plugins, given: Mapping[str, str | None]
) -> ConfigDef:
    """The settings of every connector of its kind; the `given` classes decide on default versions."""
    is_sink = isinstance(connector, SinkConnector)
    more = [*sink_keys(), *restart_keys()] if is_sink else [*source_keys(), *dead_letter_keys(), *restart_keys()]
    converters = {name: given.get(name) or default for name, default in facts.converters.items()}
    common = common_keys(None, dict(facts.converters))
    return ConfigDef(*_completed(common, connector, converters, plugins), *more)


def _completed(
    keys: Iterable[ConfigKey], connector: Connector, converters: Mapping[str, str], plugins: Plugins
) -> Iterable[ConfigKey]:
    """The keys with versions and recommended classes."""
    versions: dict[str, str | None] = {"connector.plugin.version": connector.version}
    for key in keys:
        made = key
        if key.name in ("key.converter", "value.converter", "header.converter"):
            names = plugins.names("header_converter" if key.name.startswith("header") else "converter")
            made = replace(key, recommend=_always(names))
            versions[f"{key.name}.plugin.version"] = _version(converters.get(key.name), plugins)
        version = versions.get(key.name)
        if version is not None:
            made = replace(key, default=version, recommend=_always([version]))
        yield made


def _version(name: str | None, plugins: Plugins) -> str | None:
    if name is None:
        return None
    try:
        return plugins.header_converter(name).version
    except (ConnectError, NotFoundError):
        return None


def _always(values: Sequence[str]) -> Callable[[str, Mapping[str, object]], list[object]]:
    return lambda name, parsed: list(values)


def _own(connector: Connector, given: Mapping[str, str | None]) -> tuple[ConfigDef, list[tuple[str, str]]]:
    try:
        problems = _sentences(connector.validate(raw(given)))
    except Exception as error:
        raise RefusedError(
            500, f"{type(connector).__name__}.validate failed: {type(error).__name__}: {error}"
        ) from error
    return connector.config_def, problems


def _sentences(found: object) -> list[tuple[str, str]]:
    """A connector's error messages by setting; a single message may stand without a list."""
    if not isinstance(found, Mapping):
        raise TypeError(f"it returned no dict, but {type(found).__name__}")
    return [
        (name, str(sentence))
        for name, sentences in found.items()
        for sentence in ([sentences] if isinstance(sentences, str) else sentences)
    ]


def _problems(connector: Connector, given: Mapping[str, str | None], facts: WorkerFacts) -> Iterable[tuple[str, str]]:
    if not isinstance(connector, SourceConnector):
        yield from topics_problems(dict(raw(given)))
        return
    if (given.get("exactly.once.support") or "").strip().lower() == "required":
        if not facts.exactly_once:
            yield "exactly.once.support", "This worker does not have exactly-once source support enabled."
        elif not connector.exactly_once:
            sentence = "The connector does not support exactly-once semantics with the provided configuration."
            yield "exactly.once.support", sentence
    is_connectors = (given.get("transaction.boundary") or "").strip().lower() == "connector"
    if is_connectors and not connector.defines_transactions(raw(given)):
        yield (
            "transaction.boundary",
            "The connector does not support connector-defined transaction boundaries with the given configuration. "
            "Please reconfigure it to use a different transaction boundary definition.",
        )


def _examined(
    definition: ConfigDef, given: Mapping[str, str | None], problems: Sequence[tuple[str, str]]
) -> list[Examined]:
    found = []
    for value in definition.validate(given):
        more = tuple(sentence for name, sentence in problems if name == value.name)
        found.append(Examined(definition.keys[value.name], replace(value, errors=value.errors + more)))
    return found


def _overrides(given: Mapping[str, str | None], facts: WorkerFacts) -> Iterable[Examined]:
    for name, value in given.items():
        if value is not None and name.startswith(_OVERRIDES):
            problem = facts.override_problem(name, value)
            yield Examined(None, ConfigValue(name, value, () if problem is None else (problem,)))


def _groups(settings: Sequence[Examined]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.key.group for each in settings if each.key is not None and each.key.group))
