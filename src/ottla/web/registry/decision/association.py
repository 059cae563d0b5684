"""Creating, changing and deleting associations, with the schemas that come and go with them.

All associations of a resource have one lifecycle. A subject that a topic owns has no other association, and no schema
refers to it. A request is done as a whole or not at all.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import TypeVar

from ottla.base.frozen import frozen
from ottla.web.registry.decision.association_request import (
    TOPIC,
    ResourceRequest,
    Wish,
    check_subject,
    mismatched,
    with_defaults,
    with_subject,
)
from ottla.web.registry.decision.delete import check_writable, delete_subject
from ottla.web.registry.decision.errors import (
    association_frozen,
    association_not_found,
    invalid_association,
    no_live_version,
    resource_associated,
    subject_associated,
    subject_owned,
    subject_referenced,
)
from ottla.web.registry.decision.lookup import find
from ottla.web.registry.decision.outcome import Outcome, Record, record
from ottla.web.registry.decision.register import register
from ottla.web.registry.decision.rule import RegistryRule
from ottla.web.registry.decision.scope import mode_in_scope
from ottla.web.registry.state.association import Association, Lifecycle
from ottla.web.registry.state.record_key import AssociationKey
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.replay import apply
from ottla.web.registry.state.stored_schema import StoredSchema
from ottla.web.registry.state.subject_name import normalized, within

T = TypeVar("T")
Made = tuple[Association, StoredSchema | None]
"""An association and the schema that came with it."""


@frozen
class Situation:
    """The environment of a request: rules, the context of plain subjects, and the source of GUIDs."""

    rule: RegistryRule
    context: str
    new_guid: Callable[[], str]


class Steps:
    """Records of several decisions, each of which sees what the earlier ones did."""

    def __init__(self, state: RegistryState) -> None:
        self.state = state
        self.records: list[Record] = []

    def take(self, outcome: Outcome[T]) -> T:
        """The decision's answer, once its records are added."""
        for key, value in outcome.records:
            self.state = apply(self.state, key, value)
        self.records += outcome.records
        return outcome.answer


def associate(
    state: RegistryState, situation: Situation, request: ResourceRequest, *, dry_run: bool
) -> Outcome[list[Made]]:
    """The created and changed associations, without unchanged ones. Raises `HttpError`."""
    request = replace(request, wishes=tuple(_placed(state, situation.context, each) for each in request.wishes))
    old = {each.key.association_type: each for each in _associations_of(state, request)}
    settled = [_settled(state, situation, request, each, old.get(each.association_type)) for each in request.wishes]
    _check_uniform(old, [wish for wish, _ in settled])
    for wish, _ in settled:
        _check_claim(state, [each for each, _ in settled], wish, old.get(wish.association_type))
    steps, made = Steps(state), list[Made]()
    for wish, is_new in settled:
        stored = None
        if wish.schema is not None:
            subject = _subject(wish)
            stored = steps.take(register(steps.state, situation.rule, subject, wish.schema, normalize=wish.normalize))
        if is_new:
            association = _made(situation, request, wish)
            steps.take(Outcome(None, (record(association.key, association.to_record()),)))
            made.append((association, stored))
    return Outcome([]) if dry_run else Outcome(made, tuple(steps.records))


def dissociate(
    state: RegistryState, resource_id: str, types: Collection[str], *, cascade: bool, dry_run: bool
) -> Outcome[None]:
    """A resource's associations, removed; with `cascade` the subjects that it owns as well."""
    found = [
        each for each in state.associations.of_resource(resource_id) if not types or each.key.association_type in types
    ]
    if not found:
        raise association_not_found(resource_id)
    for each in found:
        check_writable(state, each.key.subject)
        if each.is_frozen and not cascade:
            raise association_frozen(each.key.association_type, each.key.subject)
    steps = Steps(state)
    for each in found:
        subject = each.key.subject
        steps.take(Outcome(None, (record(each.key, None),)))
        if cascade and each.lifecycle is Lifecycle.STRONG and not mode_in_scope(state, subject).imports:
            if steps.state.subject(subject).latest() is not None:
                steps.take(delete_subject(steps.state, subject, permanent=False))
            if steps.state.subject(subject).versions:
                steps.take(delete_subject(steps.state, subject, permanent=True))
    return Outcome(None) if dry_run else Outcome(None, tuple(steps.records))


def _placed(state: RegistryState, context: str, wish: Wish) -> Wish:
    """The wish with its subject in the request's context, aliases followed."""
    if wish.subject is None:
        return wish
    subject = within(context, normalized(wish.subject))
    alias = state.configs.get(subject, {}).get("alias")
    subject = within(subject, alias) if alias else subject
    check_writable(state, subject)
    return replace(wish, subject=subject)


def _associations_of(state: RegistryState, request: ResourceRequest) -> list[Association]:
    if request.id is not None:
        return state.associations.of_resource(request.id)
    # A dry run may come before the topic has an id: then the newest resource of that name counts.
    named = state.associations.named(request.name, request.namespace)
    if not named:
        return []
    newest = max(named, key=lambda each: (each.updated, each.created, each.resource_id))
    return [each for each in named if each.resource_id == newest.resource_id]


def _settled(
    state: RegistryState, situation: Situation, request: ResourceRequest, wish: Wish, old: Association | None
) -> tuple[Wish, bool]:
    """The wish with nothing left open, and whether it changes anything."""
    if old is None:
        wish = with_subject(request, with_defaults(wish, create=request.is_create))
        check_subject(request, wish)
        _check_new(state, situation.rule, request, wish)
        return wish, True
    subject = wish.subject or old.key.subject
    lifecycle = wish.lifecycle or old.lifecycle
    is_frozen = old.is_frozen if wish.is_frozen is None else wish.is_frozen
    full = replace(wish, subject=subject, lifecycle=lifecycle, is_frozen=is_frozen)
    if lifecycle is Lifecycle.WEAK and wish.schema is not None:
        raise invalid_association("lifecycle", "cannot be WEAK when schema is provided")
    if is_frozen is not (lifecycle is Lifecycle.STRONG):
        raise mismatched(lifecycle, is_frozen)
    check_subject(request, full)
    if (subject, lifecycle, is_frozen) == (old.key.subject, old.lifecycle, old.is_frozen):
        if request.is_create and wish.schema is not None and not _has(state, situation.rule, full):
            raise resource_associated(wish.association_type, old.key.resource_name)
        return full, False
    if request.is_create:
        raise resource_associated(wish.association_type, old.key.resource_name)
    if subject != old.key.subject:
        raise invalid_association("subject", f"cannot be changed from '{old.key.subject}' to '{subject}'")
    raise invalid_association("frozen", "frozen attribute of association cannot be changed")


def _check_new(state: RegistryState, rule: RegistryRule, request: ResourceRequest, wish: Wish) -> None:
    subject = _subject(wish)
    if wish.lifecycle is Lifecycle.WEAK or mode_in_scope(state, subject).imports:
        return
    if not request.is_create:
        raise invalid_association("lifecycle", "STRONG associations must be created with the topic")
    if wish.schema is None:
        raise invalid_association("schema", "schema must be provided when creating a frozen association")
    latest = state.subject(subject).latest()
    if latest is not None and (latest.version != 1 or not _has(state, rule, wish)):
        raise invalid_association(
            "frozen", "cannot create a frozen association when schemas already exist in the subject"
        )


def _has(state: RegistryState, rule: RegistryRule, wish: Wish) -> bool:
    assert wish.schema is not None
    found = find(state, rule, _subject(wish), wish.schema, normalize=wish.normalize, deleted=False)
    return found is not None


def _check_uniform(old: dict[str, Association], wishes: Collection[Wish]) -> None:
    found = {name: each.lifecycle for name, each in old.items()}
    found |= {wish.association_type: wish.lifecycle for wish in wishes if wish.lifecycle is not None}
    if len(set(found.values())) > 1:
        shown = ", ".join(f"{name}={lifecycle.value}" for name, lifecycle in found.items())
        detail = f"all associations for a resource must have the same lifecycle, but got {shown}"
        raise invalid_association("lifecycle", detail)


def _check_claim(state: RegistryState, wishes: Collection[Wish], wish: Wish, old: Association | None) -> None:
    """Whether the subject may be had like this, beside its other associations and its referrers."""
    subject = _subject(wish)
    if wish.schema is not None and mode_in_scope(state, subject).imports:
        raise invalid_association("schema", f"cannot be provided while subject '{subject}' is in IMPORT mode")
    if wish.schema is None and state.subject(subject).latest() is None:
        raise no_live_version(subject)
    others = [each for each in state.associations.of_subject(subject) if old is None or each.key != old.key]
    if wish.lifecycle is Lifecycle.WEAK:
        if any(each.lifecycle is Lifecycle.STRONG for each in others):
            raise subject_owned(subject)
        return
    if others:
        raise subject_associated(subject)
    asked = {
        within(_subject(each), reference.subject)
        for each in wishes
        if each.schema is not None
        for reference in each.schema.references
    }
    if subject in asked or any((subject, number) in state.referrers for number in state.subject(subject).versions):
        raise subject_referenced(subject)


def _made(situation: Situation, request: ResourceRequest, wish: Wish) -> Association:
    assert wish.lifecycle is not None
    key = AssociationKey(request.name, request.namespace, TOPIC, wish.association_type, _subject(wish))
    return Association(key, situation.new_guid(), request.id or "", wish.lifecycle, bool(wish.is_frozen))


def _subject(wish: Wish) -> str:
    assert wish.subject is not None
    return wish.subject
