"""Settings and modes of a scope. A setting that a request leaves out stays; one that it sends as null goes."""

from collections.abc import Mapping
from typing import Any, Final

from ottla.base.errors import OttlaError
from ottla.schema.compatibility import Level
from ottla.schema.error import InvalidRuleError, UnknownLevelError
from ottla.schema.metadata import Metadata
from ottla.schema.policy import Policy
from ottla.schema.rule import RuleSet
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.delete import check_writable
from ottla.web.registry.decision.errors import (
    invalid_compatibility,
    invalid_mode,
    invalid_request,
    invalid_rule_set,
    not_permitted,
    reference_exists,
    subject_not_found,
)
from ottla.web.registry.decision.lookup import has_subjects
from ottla.web.registry.decision.outcome import Outcome, Record, record
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.scope import mode_in_scope, own_config, own_mode
from ottla.web.registry.state.config_value import COMPATIBILITY, ConfigValue, ordered
from ottla.web.registry.state.mode import Mode
from ottla.web.registry.state.record_key import ClearSubjectKey, ConfigKey, ModeKey, SchemaKey
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.subject_name import parse_subject

_BOOLEANS: Final = ("normalize", "validateFields", "validateNewSchemas", "validateRules")
_STRINGS: Final = ("alias", "aliasForDeks", "compatibilityGroup")
_METADATA: Final = ("defaultMetadata", "overrideMetadata")
_RULE_SETS: Final = ("defaultRuleSet", "overrideRuleSet")


def parse_config_request(body: object) -> dict[str, Any]:
    """The settings in a decoded body, checked, under the names they are stored by; None is one to remove."""
    if not isinstance(body, dict):
        raise invalid_request("The request needs a JSON object")
    fields: dict[str, Any] = {}
    for asked in ("compatibility", COMPATIBILITY):
        if asked in body:
            fields[COMPATIBILITY] = _level(body[asked])
    if "compatibilityPolicy" in body:
        fields["compatibilityPolicy"] = _policy(body["compatibilityPolicy"])
    for names, kind in ((_BOOLEANS, bool), (_STRINGS, str)):
        for name in names:
            if name in body:
                value = body[name]
                if value is not None and not isinstance(value, kind):
                    raise HttpError(400, f"{name} must be a {'boolean' if kind is bool else 'string'}")
                fields[name] = value
    for name in (*_METADATA, *_RULE_SETS):
        if name in body:
            fields[name] = _attachment(name, body[name])
    return fields


def set_config(state: RegistryState, subject: str | None, fields: Mapping[str, Any]) -> Outcome[ConfigValue]:
    """The settings of a scope, changed."""
    check_writable(state, subject)
    merged = ordered({**state.configs.get(subject, {}), **fields})
    value = merged if subject is None else {"subject": subject, **merged}
    return Outcome(merged, (record(ConfigKey(subject), value),))


def delete_config(state: RegistryState, rule: RegistryRule, subject: str | None) -> Outcome[ConfigValue]:
    """The settings of a scope, removed; what they were."""
    former = own_config(state, subject, rule.default_level)
    if former is None:
        raise subject_not_found(subject or "")
    check_writable(state, subject)
    return Outcome(former, (record(ConfigKey(subject), None),) if subject in state.configs else ())


def parse_mode_request(body: object) -> Mode | None:
    """The mode in a decoded body; None is to remove the one that is set."""
    if not isinstance(body, dict) or "mode" not in body:
        raise invalid_request("The request needs a JSON object with a mode")
    name = body["mode"]
    if name is None:
        return None
    try:
        return Mode(name.upper() if isinstance(name, str) else name)
    except ValueError:
        raise invalid_mode() from None


def set_mode(
    state: RegistryState, rule: RegistryRule, subject: str | None, mode: Mode | None, *, force: bool
) -> Outcome[Mode | None]:
    """The mode of a scope. Importing needs a scope without live subjects, unless it is forced."""
    _check_mode_changes(rule)
    records: list[Record] = []
    if mode is Mode.IMPORT and mode_in_scope(state, subject) is not Mode.IMPORT and not force:
        if _has_live(state, subject):
            raise not_permitted("Cannot import since found existing subjects")
        records = _forget_deleted(state, subject)
    value = None if mode is None else _mode_value(subject, mode)
    return Outcome(mode, (*records, record(ModeKey(subject), value)))


def delete_mode(
    state: RegistryState, rule: RegistryRule, subject: str | None, *, recursive: bool
) -> Outcome[Mode | None]:
    """The mode of a scope, removed, with those of the subjects below if `recursive`; what it was."""
    former = own_mode(state, subject)
    if former is None and not recursive:
        raise subject_not_found(subject or "")
    _check_mode_changes(rule)
    scopes = [subject] if subject in state.modes else []
    if recursive and (subject is None or not parse_subject(subject).subject):
        context = parse_subject(subject or "").context
        scopes += [each for each in state.modes if each is not None and each != subject]
        scopes = [each for each in scopes if each is None or each == subject or parse_subject(each).context == context]
    return Outcome(former, tuple(record(ModeKey(each), None) for each in scopes))


def _level(value: object) -> str | None:
    if value is None:
        return None
    try:
        return Level.parse(value if isinstance(value, str) else "?").value
    except UnknownLevelError as error:
        raise invalid_compatibility(str(error)) from None


def _policy(value: object) -> str | None:
    if value is None:
        return None
    try:
        return Policy(value.upper() if isinstance(value, str) else value).value
    except ValueError:
        names = ", ".join(policy.value.lower() for policy in Policy)
        raise invalid_compatibility(f"Invalid compatibility policy. Valid values are {names}") from None


def _attachment(name: str, value: object) -> Mapping[str, object] | None:
    if value is None:
        return None
    try:
        if name in _METADATA:
            return Metadata.from_json(value, name).to_json()
        rules = RuleSet.from_json(value, name)
        rules.validate()
        return rules.to_json()
    except InvalidRuleError as error:
        raise invalid_rule_set(str(error)) from None
    except OttlaError as error:
        raise invalid_request(str(error)) from None


def _check_mode_changes(rule: RegistryRule) -> None:
    if not rule.mode_changes:
        raise not_permitted("Mode changes are not allowed")


def _mode_value(subject: str | None, mode: Mode) -> dict[str, object]:
    return {"mode": mode.value} if subject is None else {"subject": subject, "mode": mode.value}


def _has_live(state: RegistryState, subject: str | None) -> bool:
    if subject is not None:
        return has_subjects(state, subject, deleted=False)
    return any(not stored.deleted for each in state.subjects.values() for stored in each.versions.values())


def _forget_deleted(state: RegistryState, subject: str | None) -> list[Record]:
    keys = [
        SchemaKey(name, stored.version)
        for name in state.matching(subject)
        for stored in reversed(state.subject(name).ascending())
    ]
    for key in keys:
        if (key.subject, key.version) in state.referrers:
            raise reference_exists(key.subject, key.version)
    forgotten = [record(key, None) for key in keys]
    if subject is None:
        return forgotten
    return [*forgotten, record(ClearSubjectKey(subject), {"subject": subject})]
