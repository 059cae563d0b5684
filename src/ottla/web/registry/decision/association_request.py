"""Requests about associations: the JSON of a resource and what it asks for, checked, defaults filled in.

A schema makes an association STRONG; without one it is WEAK and needs a subject. What is STRONG is frozen, and has the
subject `:.NAMESPACE:NAME-TYPE`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from ottla.base.frozen import frozen
from ottla.web.http.errors import HttpError
from ottla.web.registry.decision.errors import invalid_association, invalid_request
from ottla.web.registry.decision.schema_request import SchemaRequest, check_rules, parse_schema_request
from ottla.web.registry.state.association import Lifecycle
from ottla.web.registry.state.subject_name import is_valid

TOPIC: Final = "topic"
_NAME_MAX: Final = 256


@frozen
class Wish:
    """One association that is asked for."""

    association_type: str
    subject: str | None
    lifecycle: Lifecycle | None
    is_frozen: bool | None
    schema: SchemaRequest | None
    normalize: bool


@frozen
class ResourceRequest:
    """A resource and the associations that it is to have; without an id only for a dry run."""

    name: str
    namespace: str
    id: str | None
    wishes: tuple[Wish, ...]
    is_create: bool

    def default_subject(self, association_type: str) -> str:
        """The subject that a topic owns."""
        return f":.{self.namespace}:{self.name}-{association_type}"


def parse_resource_request(body: object, *, create: bool, dry_run: bool, path_id: str | None = None) -> ResourceRequest:
    """The request in a decoded body. Raises `HttpError`, 42212 for a bad value."""
    if not isinstance(body, dict):
        raise invalid_request("The request needs a JSON object")
    resource_id = text_field(body, "resourceId")
    if path_id is not None:
        if resource_id is not None and resource_id != path_id:
            raise invalid_association("resourceId", "the path and the body name different ones")
        resource_id = path_id
    if not dry_run and not resource_id:
        raise invalid_association("resourceId", "cannot be null or empty")
    if text_field(body, "resourceType") not in (None, "", TOPIC):
        raise invalid_association("resourceType", f"must be '{TOPIC}'")
    wanted = body.get("associations")
    if not isinstance(wanted, list) or not wanted:
        raise invalid_association("associations", "cannot be null or empty")
    wishes = tuple(_wish(each) for each in wanted)
    types = [each.association_type for each in wishes]
    if len(set(types)) < len(types):
        raise invalid_association("associationType", "may only appear once per request")
    request = ResourceRequest(
        _name(body, "resourceName"), _name(body, "resourceNamespace"), resource_id, wishes, create
    )
    return replace(request, wishes=tuple(_created(request, each) for each in wishes)) if create else request


def with_defaults(wish: Wish, *, create: bool) -> Wish:
    """A wish for an association that is not there yet."""
    if wish.schema is not None:
        if not create:
            raise invalid_association("schema", "an association with a schema must be created with the topic")
        if wish.lifecycle is Lifecycle.WEAK:
            raise invalid_association("lifecycle", "cannot be WEAK when schema is provided")
        if wish.is_frozen is False:
            raise invalid_association("frozen", "cannot be false when a schema is provided")
    lifecycle = Lifecycle.STRONG if wish.schema is not None else wish.lifecycle or Lifecycle.WEAK
    is_frozen = lifecycle is Lifecycle.STRONG
    if wish.is_frozen not in (None, is_frozen):
        raise mismatched(lifecycle, wish.is_frozen)
    return replace(wish, lifecycle=lifecycle, is_frozen=is_frozen)


def mismatched(lifecycle: Lifecycle, is_frozen: bool | None) -> HttpError:
    """STRONG is frozen, and WEAK is not."""
    detail = f"association with lifecycle of {lifecycle.value} cannot be frozen={str(is_frozen).lower()}"
    return invalid_association("frozen", detail)


def check_subject(request: ResourceRequest, wish: Wish) -> None:
    """Raises `HttpError` 42212 where the subject does not fit the lifecycle."""
    default = request.default_subject(wish.association_type)
    if wish.lifecycle is Lifecycle.WEAK and wish.subject == default:
        raise invalid_association("subject", f"WEAK associations cannot use subject '{default}'")
    if wish.is_frozen and wish.subject != default:
        raise invalid_association("subject", f"frozen associations must use subject '{default}'")


def with_subject(request: ResourceRequest, wish: Wish) -> Wish:
    """A new association's wish with its subject."""
    if wish.subject is not None:
        return wish
    if wish.lifecycle is Lifecycle.WEAK:
        raise invalid_association("subject", "must be provided for WEAK associations")
    return replace(wish, subject=request.default_subject(wish.association_type))


def lifecycle_of(name: object) -> Lifecycle | None:
    """A lifecycle by its name."""
    try:
        return None if name is None else Lifecycle(name)
    except ValueError:
        raise invalid_association("lifecycle", "must be either 'STRONG' or 'WEAK'") from None


def _created(request: ResourceRequest, wish: Wish) -> Wish:
    made = with_subject(request, with_defaults(wish, create=True))
    check_subject(request, made)
    return made


def _wish(fields: object) -> Wish:
    if not isinstance(fields, dict):
        raise invalid_request("associations must be a list of objects")
    association_type = text_field(fields, "associationType") or "value"
    if association_type not in ("key", "value"):
        raise invalid_association("associationType", "must be either 'key' or 'value'")
    subject = text_field(fields, "subject")
    if subject is not None and (not subject or not is_valid(subject)):
        raise invalid_association("subject", "must be a valid subject")
    schema = fields.get("schema")
    parsed = None if schema is None else parse_schema_request(schema)
    if parsed is not None:
        check_rules(parsed)
    lifecycle = lifecycle_of(fields.get("lifecycle"))
    is_frozen, normalize = _flag(fields, "frozen"), bool(_flag(fields, "normalize"))
    return Wish(association_type, subject, lifecycle, is_frozen, parsed, normalize)


def _name(fields: Mapping[str, Any], name: str) -> str:
    value = text_field(fields, name)
    if not value:
        raise invalid_association(name, "cannot be null or empty")
    if len(value) > _NAME_MAX:
        raise invalid_association(name, f"exceeds max length of {_NAME_MAX}")
    wrong = next((each for each in value if not (each.isalnum() or each in "_-")), None)
    if wrong is not None:
        raise invalid_association(name, f"illegal character '{wrong}'")
    return value


def text_field(fields: Mapping[str, Any], name: str) -> str | None:
    """A field that is text, or absent. Raises `HttpError` 400 for anything else."""
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise HttpError(400, f"{name} must be a string")
    return value


def _flag(fields: Mapping[str, Any], name: str) -> bool | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, bool):
        raise HttpError(400, f"{name} must be a boolean")
    return value
