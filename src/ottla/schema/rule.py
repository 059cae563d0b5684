"""Rules that clients run on data: what a rule is, what makes a set of them valid, how two sets merge.

The registry stores and returns rules and never runs one. Field names and orders are Confluent's.
"""

import enum
from collections.abc import Iterable
from typing import Final, TypeVar

from ottla.base.frozen import frozen
from ottla.schema.error import InvalidMetadataError, InvalidRuleError
from ottla.schema.metadata import read_map, read_object, read_string, read_strings, sorted_items, sorted_set

_NAME_LENGTH_MAX: Final = 256
_E = TypeVar("_E", bound=enum.Enum)


class RuleKind(enum.Enum):
    """TRANSFORM changes data, CONDITION accepts or refuses it."""

    TRANSFORM = "TRANSFORM"
    CONDITION = "CONDITION"


class RuleMode(enum.Enum):
    """The operations on data at which a rule runs."""

    UPGRADE = "UPGRADE"
    DOWNGRADE = "DOWNGRADE"
    UPDOWN = "UPDOWN"
    WRITE = "WRITE"
    READ = "READ"
    WRITEREAD = "WRITEREAD"


class ExecutionEnvironment(enum.Enum):
    """The places at which a rule set is enabled."""

    ALL = "ALL"
    CLIENT = "CLIENT"
    GATEWAY = "GATEWAY"
    SERVER = "SERVER"
    NONE = "NONE"


MIGRATION_MODES: Final = frozenset({RuleMode.UPGRADE, RuleMode.DOWNGRADE, RuleMode.UPDOWN})
DOMAIN_MODES: Final = frozenset({RuleMode.WRITE, RuleMode.READ, RuleMode.WRITEREAD})
_PAIRED_MODES: Final = frozenset({RuleMode.WRITEREAD, RuleMode.UPDOWN})


@frozen
class Rule:
    """One rule. `on_success` and `on_failure` hold two actions, with a comma, in the modes that run twice."""

    name: str | None
    doc: str | None = None
    kind: RuleKind = RuleKind.TRANSFORM
    mode: RuleMode = RuleMode.WRITEREAD
    type: str | None = None
    tags: tuple[str, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    expr: str | None = None
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool = False

    @classmethod
    def from_json(cls, value: object, path: str) -> "Rule":
        """From decoded JSON; absent and null fields take their defaults, unknown ones are ignored."""
        fields = read_object(value, path)

        def text(name: str) -> str | None:
            found = fields.get(name)
            return None if found is None else read_string(found, f"{path}.{name}")

        return cls(
            name=text("name"),
            doc=text("doc"),
            kind=_read_enum(RuleKind, fields.get("kind"), f"{path}.kind") or RuleKind.TRANSFORM,
            mode=_read_enum(RuleMode, fields.get("mode"), f"{path}.mode") or RuleMode.WRITEREAD,
            type=text("type"),
            tags=sorted_set(read_strings(fields.get("tags") or [], f"{path}.tags")),
            params=sorted_items(read_map(fields.get("params"), f"{path}.params", read_string)),
            expr=text("expr"),
            on_success=text("onSuccess"),
            on_failure=text("onFailure"),
            disabled=_read_bool(fields.get("disabled"), f"{path}.disabled"),
        )

    def to_json(self) -> dict[str, object]:
        """Confluent's JSON, without what is empty; `disabled` is always there."""
        fields: dict[str, object] = {
            "name": self.name,
            "doc": self.doc,
            "kind": self.kind.value,
            "mode": self.mode.value,
            "type": self.type,
            "tags": list(self.tags),
            "params": dict(self.params),
            "expr": self.expr,
            "onSuccess": self.on_success,
            "onFailure": self.on_failure,
        }
        return {name: value for name, value in fields.items() if value} | {"disabled": self.disabled}

    def validate(self) -> None:
        """Raises InvalidRuleError for a rule without a usable name, without a type, or with actions that never run."""
        _validate_name(self.name)
        if self.type is None:
            raise InvalidRuleError("Missing rule type", self.name or "")
        actions = (self.on_success or "") + (self.on_failure or "")
        if "," in actions and self.mode not in _PAIRED_MODES:
            raise InvalidRuleError("Multiple actions only valid with WRITEREAD and UPDOWN", self.name or "")


@frozen
class RuleSet:
    """The rules of a schema by phase, in the order they run."""

    migration_rules: tuple[Rule, ...] = ()
    domain_rules: tuple[Rule, ...] = ()
    encoding_rules: tuple[Rule, ...] = ()
    enable_at: ExecutionEnvironment | None = None

    @classmethod
    def from_json(cls, value: object, path: str = "ruleSet") -> "RuleSet":
        """From decoded JSON; absent and null fields are empty."""
        fields = read_object(value, path)
        return cls(
            migration_rules=_read_rules(fields.get("migrationRules"), f"{path}.migrationRules"),
            domain_rules=_read_rules(fields.get("domainRules"), f"{path}.domainRules"),
            encoding_rules=_read_rules(fields.get("encodingRules"), f"{path}.encodingRules"),
            enable_at=_read_enum(ExecutionEnvironment, fields.get("enableAt"), f"{path}.enableAt"),
        )

    def to_json(self) -> dict[str, object]:
        """Confluent's JSON, without what is empty."""
        fields: dict[str, object] = {
            "migrationRules": [rule.to_json() for rule in self.migration_rules],
            "domainRules": [rule.to_json() for rule in self.domain_rules],
            "encodingRules": [rule.to_json() for rule in self.encoding_rules],
            "enableAt": self.enable_at and self.enable_at.value,
        }
        return {name: value for name, value in fields.items() if value}

    def validate(self) -> None:
        """Raises InvalidRuleError: a rule is invalid, a name appears twice, or a mode does not belong to its list."""
        names: set[str | None] = set()
        for phase, rules, modes in (
            ("Migration", self.migration_rules, MIGRATION_MODES),
            ("Domain", self.domain_rules, DOMAIN_MODES),
            ("Encoding", self.encoding_rules, DOMAIN_MODES),
        ):
            for rule in rules:
                if rule.name in names:
                    raise InvalidRuleError(f"Found rule with duplicate name '{rule.name}'", rule.name or "")
                names.add(rule.name)
                rule.validate()
                if rule.mode not in modes:
                    allowed = ", ".join(mode.value for mode in RuleMode if mode in modes)
                    raise InvalidRuleError(f"{phase} rules can only be {allowed}", rule.name or "")


def merge_rule_sets(base: RuleSet | None, winner: RuleSet | None) -> RuleSet | None:
    """Both together; `winner`'s rules come last and replace rules of the same name.

    A registry merges thrice: `merge(merge(default, request), override)`.
    """
    if base is None or winner is None:
        return winner if base is None else base
    return RuleSet(
        migration_rules=_merge(base.migration_rules, winner.migration_rules),
        domain_rules=_merge(base.domain_rules, winner.domain_rules),
        encoding_rules=_merge(base.encoding_rules, winner.encoding_rules),
        enable_at=winner.enable_at or base.enable_at,
    )


def _merge(base: Iterable[Rule], winner: tuple[Rule, ...]) -> tuple[Rule, ...]:
    names = {rule.name for rule in winner}
    return (*(rule for rule in base if rule.name not in names), *winner)


def _validate_name(name: str | None) -> None:
    if name is None:
        raise InvalidRuleError("Missing rule name")
    if not name:
        raise InvalidRuleError("Empty rule name")
    if len(name) > _NAME_LENGTH_MAX:
        raise InvalidRuleError("Rule name too long", name)
    if not (name[0].isalpha() or name[0] == "_"):
        raise InvalidRuleError(f"Illegal initial character in rule name: {name}", name)
    if not all(char.isalpha() or char.isdecimal() or char in "_-" for char in name):
        raise InvalidRuleError(f"Illegal character in rule name: {name}", name)


def _read_rules(value: object, path: str) -> tuple[Rule, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidMetadataError("a list is expected", path)
    return tuple(Rule.from_json(item, f"{path}[{index}]") for index, item in enumerate(value))


def _read_enum(kind: type[_E], value: object, path: str) -> _E | None:
    if value is None:
        return None
    for member in kind:
        if member.value == value:
            return member
    raise InvalidMetadataError(f"one of {', '.join(str(member.value) for member in kind)} is expected", path)


def _read_bool(value: object, path: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidMetadataError("true or false is expected", path)
    return value
