"""Many requests about associations in one body: each is done as a whole or refused, whatever becomes of the others."""

from itertools import groupby
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.association import Made, Situation, Steps, associate, dissociate
from ottla.web.registry.decision.association_request import ResourceRequest, parse_resource_request
from ottla.web.registry.decision.errors import invalid_association, invalid_request
from ottla.web.registry.decision.outcome import Outcome
from ottla.web.registry.state.registry_state import RegistryState
from ottla.web.registry.state.stored_schema import StoredSchema

_KINDS: Final = ("CREATE", "UPSERT", "DELETE")


@frozen
class Done:
    """The result of one request: the resource's associations, or a refusal."""

    request: ResourceRequest | None
    made: tuple[Made, ...] = ()
    refusal: HttpError | None = None


def parse_batch(body: object) -> list[Any]:
    """The requests in a decoded body, not looked at yet: a bad one is refused for itself."""
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list) or not requests:
        raise invalid_association("requests", "cannot be null or empty")
    return requests


def batch(state: RegistryState, situation: Situation, requests: list[Any], *, dry_run: bool) -> Outcome[list[Done]]:
    """All requests, one after the other."""
    steps, done = Steps(state), list[Done]()
    for body in requests:
        try:
            done.append(steps.take(_one(steps.state, situation, body, dry_run=dry_run)))
        except HttpError as error:
            done.append(Done(None, refusal=error))
    return Outcome(done, tuple(steps.records))


def _one(state: RegistryState, situation: Situation, body: Any, *, dry_run: bool) -> Outcome[Done]:
    whole = parse_resource_request(body, create=False, dry_run=dry_run)
    operations = body["associations"]
    unknown = [each.get("opType") for each in operations if each.get("opType") not in _KINDS]
    if unknown:
        raise invalid_request(f"opType must be one of {', '.join(_KINDS)}, not {unknown[0]}")
    steps, schemas = Steps(state), dict[str, StoredSchema | None]()
    for kind, run in groupby(operations, key=lambda each: str(each["opType"])):
        some = list(run)
        if kind == "DELETE":
            for each in some:
                _delete(steps, whole, each)
            continue
        part = parse_resource_request({**body, "associations": some}, create=kind == "CREATE", dry_run=dry_run)
        made = steps.take(associate(steps.state, situation, part, dry_run=False))
        schemas.update({association.key.association_type: stored for association, stored in made})
    if dry_run:
        return Outcome(Done(whole))
    left = steps.state.associations.of_resource(whole.id or "")
    shown = tuple((each, schemas.get(each.key.association_type)) for each in left)
    return Outcome(Done(whole, shown), tuple(steps.records))


def _delete(steps: Steps, whole: ResourceRequest, operation: Any) -> None:
    kind = operation.get("associationType") or "value"
    there = steps.state.associations.of_resource(whole.id or "")
    if any(each.key.association_type == kind for each in there):
        cascade = operation.get("cascadeLifecycle") is True
        steps.take(dissociate(steps.state, whole.id or "", {kind}, cascade=cascade, dry_run=False))
