"""The settings of each transform and predicate of a connector: `transforms.ALIAS.type` and its options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from ottla.base.config import REQUIRED
from ottla.base.config_type import ConfigType
from ottla.connect.config.definition import ConfigKey, Importance, Width
from ottla.connect.config.validator import Validator
from ottla.connect.errors import ConnectError, InvalidConfigError, NotFoundError
from ottla.connect.plugin import Plugins
from ottla.connect.transform.predicate import Predicate
from ottla.connect.transform.transform import Transform

_NEGATED_NOTHING: Final = (
    "Config '{0}.negate' was provided but there is no config '{0}.predicate' defining a predicate to be negated."
)


class Aliases:
    """All of a configuration."""

    def __init__(self, given: Mapping[str, str | None], plugins: Plugins) -> None:
        self.keys: Final[list[ConfigKey]] = []
        self.problems: Final[list[tuple[str, str]]] = []
        """Pairs of setting and sentence."""
        self._given: Final = given
        self._plugins: Final = plugins
        for alias in _listed(given.get("transforms")):
            self._add("transforms", alias)
        for alias in _listed(given.get("predicates")):
            self._add("predicates", alias)

    def _add(self, kind: str, alias: str) -> None:
        prefix = f"{kind}.{alias}"
        word, one = ("Transforms", "Transformation") if kind == "transforms" else ("Predicates", "Predicate")
        group = f"{word}: {alias}"
        names = self._plugins.names("transformation" if kind == "transforms" else "predicate")
        plugin = self._plugin(kind, prefix)
        version = None if plugin is None else plugin.version
        recommended = [] if version is None else [version]
        self.keys.append(
            ConfigKey(
                f"{prefix}.type", ConfigType.CLASS, REQUIRED, f"The class of {alias}.", importance=Importance.HIGH,
                group=group, order=0, width=Width.LONG, display=f"{one} type for {alias}",
                recommend=lambda name, parsed: list(names),
                validator=None if plugin is not None else self._refusal(one, names),
            )
        )  # fmt: skip
        self.keys.append(
            ConfigKey(
                f"{prefix}.plugin.version", ConfigType.STRING, version, f"The version of {alias}.",
                importance=Importance.HIGH, group=group, order=1, width=Width.LONG,
                display=f"{one} version for {alias}", recommend=lambda name, parsed: list(recommended),
            )
        )  # fmt: skip
        if plugin is not None:
            self._options(plugin, prefix, group)

    def _options(self, plugin: Transform | Predicate, prefix: str, group: str) -> None:
        order = 2
        for key in plugin.config_def.keys.values():
            self.keys.append(
                replace(key, name=f"{prefix}.{key.name}", group=group, order=order, display=key.display_name)
            )
            order += 1
        if not isinstance(plugin, Transform):
            return
        self.keys.extend([
            ConfigKey(f"{prefix}.negate", ConfigType.BOOLEAN, False, "Whether the predicate's answer is turned around.",
                      group=group, order=order, display="negate"),
            ConfigKey(f"{prefix}.predicate", ConfigType.STRING, None, "The alias of the predicate that decides.",
                      group=group, order=order + 1, display="predicate"),
        ])  # fmt: skip
        if f"{prefix}.negate" in self._given and f"{prefix}.predicate" not in self._given:
            self.problems.append((f"{prefix}.type", _NEGATED_NOTHING.format(prefix)))

    def _plugin(self, kind: str, prefix: str) -> Transform | Predicate | None:
        name = self._given.get(f"{prefix}.type")
        if not name:
            return None
        try:
            return self._plugins.transform(name) if kind == "transforms" else self._plugins.predicate(name)
        except (NotFoundError, ConnectError):
            return None

    def _refusal(self, kind: str, names: Sequence[str]) -> Validator:
        """A validator that refuses every class, with the reason that fits."""

        def refuse(name: str, value: object) -> None:
            if value is None:
                return
            sides = [each for each in names if each.startswith(f"{value}$")]
            if sides:
                listed = ", ".join(sides)
                raise InvalidConfigError(f"This class is abstract and cannot be created. Did you mean {listed}?")
            if self._plugins.has(str(value)):
                raise InvalidConfigError(f"Class class {value} does not implement the {kind} interface")
            raise InvalidConfigError.of(name, value, f"Class {value} could not be found.")

        return refuse


def _listed(text: str | None) -> list[str]:
    return list(dict.fromkeys(each.strip() for each in (text or "").split(",") if each.strip()))
