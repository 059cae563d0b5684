"""The refusals of the registry's API: HTTP status, five-digit code and text as Confluent's clients know them."""

from collections.abc import Sequence

from ottla.web.http.errors import HttpError


def subject_not_found(subject: str) -> HttpError:
    """No version of the subject is known."""
    return HttpError(404, f"Subject '{subject}' not found.", 40401)


def version_not_found(version: object) -> HttpError:
    """The subject has no such version."""
    return HttpError(404, f"Version {version} not found.", 40402)


def schema_not_found(schema: object = None) -> HttpError:
    """No schema has this id, or this text under this subject."""
    return HttpError(404, "Schema not found" if schema is None else f"Schema {schema} not found", 40403)


def subject_soft_deleted(subject: str) -> HttpError:
    """A subject that was deleted is to be deleted again."""
    text = f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently"
    return HttpError(404, text, 40404)


def subject_not_soft_deleted(subject: str) -> HttpError:
    """A permanent delete comes after a soft one."""
    text = f"Subject '{subject}' was not deleted first before being permanently deleted"
    return HttpError(404, text, 40405)


def version_soft_deleted(subject: str, version: int) -> HttpError:
    """A version that was deleted is to be deleted again."""
    text = f"Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"
    return HttpError(404, text, 40406)


def version_not_soft_deleted(subject: str, version: int) -> HttpError:
    """A permanent delete comes after a soft one."""
    text = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return HttpError(404, text, 40407)


def no_compatibility(subject: str) -> HttpError:
    """The subject has no settings of its own."""
    return HttpError(404, f"Subject '{subject}' does not have subject-level compatibility configured", 40408)


def no_mode(subject: str) -> HttpError:
    """The subject has no mode of its own."""
    return HttpError(404, f"Subject '{subject}' does not have subject-level mode configured", 40409)


def association_not_found(resource: str) -> HttpError:
    """The resource has no association of that kind."""
    return HttpError(404, f"Association for '{resource}' not found.", 40410)


def resource_associated(association_type: str, resource: str) -> HttpError:
    """The resource has another association of this type."""
    return HttpError(
        409, f"An association of type '{association_type}' already exists for resource '{resource}'", 40903
    )


def subject_associated(subject: str) -> HttpError:
    """Another association needs the subject."""
    return HttpError(409, f"An association already exists for subject '{subject}'", 40904)


def subject_owned(subject: str) -> HttpError:
    """A topic owns the subject."""
    return HttpError(409, f"A strong association already exists for subject '{subject}'", 40905)


def no_live_version(subject: str) -> HttpError:
    """An association needs a subject with a version."""
    return HttpError(409, f"No active (non-deleted) version exists for subject '{subject}'", 40907)


def association_frozen(association_type: str, subject: str) -> HttpError:
    """The association goes only together with its subject."""
    return HttpError(409, f"The association of type  '{association_type}' is frozen for subject '{subject}'", 40908)


def incompatible(subject: str, messages: Sequence[str]) -> HttpError:
    """The schema may not follow the earlier ones."""
    details = f"[{', '.join(messages)}]"
    text = f'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: {details}'
    return HttpError(409, text, 40901)


def invalid_schema(message: str) -> HttpError:
    """The text is no schema of its type."""
    return HttpError(422, message, 42201)


def invalid_version(version: str) -> HttpError:
    """A version is a number from 1, or `latest`."""
    text = (
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )
    return HttpError(422, text, 42202)


def invalid_compatibility(message: str) -> HttpError:
    """There is no such level."""
    return HttpError(422, message, 42203)


def invalid_mode(message: str | None = None) -> HttpError:
    """There is no such mode."""
    return HttpError(422, message or "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.", 42204)


def not_permitted(message: str) -> HttpError:
    """The mode forbids it."""
    return HttpError(422, message, 42205)


def reference_exists(subject: str, version: int) -> HttpError:
    """Another schema needs this one."""
    key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"
    return HttpError(422, f"One or more references exist to the schema {key}.", 42206)


def subject_referenced(subject: str) -> HttpError:
    """Schemas refer to a subject that a topic is to own."""
    return HttpError(422, f"One or more references exist to the schema {subject}.", 42206)


def invalid_association(name: str, detail: str) -> HttpError:
    """A value that no association may have."""
    return HttpError(422, f"The association specified an invalid value for property: '{name}', detail: {detail}", 42212)


def invalid_subject(subject: str) -> HttpError:
    """No subject may have this name."""
    return HttpError(422, f"The specified subject '{subject}' is not a valid.", 42208)


def schema_too_large() -> HttpError:
    """The record is larger than the topic takes."""
    return HttpError(422, "Register operation failed because schema is too large", 42209)


def invalid_rule_set(message: str) -> HttpError:
    """A rule that no client could run."""
    return HttpError(422, message, 42210)


def context_not_empty(context: str) -> HttpError:
    """The context has subjects."""
    return HttpError(422, f"The specified context '{context}' is not empty.", 42211)


def invalid_request(message: str) -> HttpError:
    """The body is JSON of another shape."""
    return HttpError(422, message)


def store_failed(message: str) -> HttpError:
    """The topic could not be written or read."""
    return HttpError(500, message, 50001)


def timed_out(message: str) -> HttpError:
    """The topic did not answer in time."""
    return HttpError(500, message, 50002)


def forwarding_failed(message: str) -> HttpError:
    """The primary did not answer."""
    return HttpError(500, message, 50003)


def leader_unknown() -> HttpError:
    """There is no primary right now."""
    return HttpError(500, "Leader not known.", 50004)
