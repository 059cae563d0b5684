"""The converters that a connector brings: whether they are there, and their settings behind their prefix."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ottla.connect.config.definition import ConfigValue
from ottla.connect.converter.converter import Converter
from ottla.connect.errors import ConnectError, InvalidConfigError
from ottla.connect.pipeline.transform_chain import prefixed
from ottla.connect.plugin import Plugins
from ottla.connect.worker.config_state import raw
from ottla.connect.worker.definition_view import Examined

_KINDS = ("key", "value", "header")


def examine_converters(
    settings: Sequence[Examined], given: Mapping[str, str | None], plugins: Plugins
) -> tuple[list[Examined], list[Examined]]:
    """The settings, with what is wrong with classes of converters, and the settings of these."""
    found: list[Examined] = []
    replaced = {each.value.name: each for each in settings}
    for kind in _KINDS:
        name = f"{kind}.converter"
        asked = given.get(name)
        if not asked:
            continue
        try:
            converter = plugins.header_converter(asked) if kind == "header" else plugins.converter(asked)
        except ConnectError:
            replaced[name] = _refused(replaced[name], asked, kind, plugins)
        else:
            known = replaced[name]
            replaced[name] = Examined(known.key, replace(known.value, value=plugins.class_name(converter)))
            found += _settings(converter, kind, given)
    return list(replaced.values()), found


def _refused(setting: Examined, asked: str, kind: str, plugins: Plugins) -> Examined:
    if plugins.has(asked):
        word = "HeaderConverter" if kind == "header" else "Converter"
        sentence = f"Class class {asked} does not implement the {word} interface"
        return Examined(setting.key, replace(setting.value, errors=(sentence,)))
    error = InvalidConfigError.of(setting.value.name, asked, f"Class {asked} could not be found.")
    return Examined(setting.key, replace(setting.value, value=None, errors=(str(error),)))


def _settings(converter: Converter, kind: str, given: Mapping[str, str | None]) -> list[Examined]:
    prefix = f"{kind}.converter."
    own = {"converter.type": kind, **prefixed(raw(given), prefix)}
    definition = converter.config_def
    return [
        Examined(
            replace(
                definition.keys[value.name], name=prefix + value.name, display=definition.keys[value.name].display_name
            ),
            ConfigValue(prefix + value.name, value.value, value.errors, value.recommended, value.visible),
        )
        for value in definition.validate(own)
    ]
