"""`ottla schemas check`: may this file be the next version, and if not, what must change?

The registry's own verdict counts. The reasons are found here, by the same rules, because they say what to do.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from ottla.cli.output.document import print_document
from ottla.cli.output.style import Style, Tone
from ottla.cli.schemas.file import schema_request
from ottla.cli.schemas.registry_call import RegistryCall, RegistryRefusalError
from ottla.cli.schemas.resolved import resolved_schema
from ottla.schema.compatibility import Level
from ottla.schema.compatibility import check as incompatibilities
from ottla.schema.error import InvalidSchemaError
from ottla.schema.incompatibility import Incompatibility
from ottla.schema.policy import Policy

_NO_SUBJECT = 40401


def check(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Prints the verdict and the reasons; exit code 1 if the registry would refuse it."""
    body = schema_request(options)
    verdict = registry.post("compatibility", "subjects", options.subject, "versions", body=body, verbose="true")
    config = registry.get("config", options.subject, defaultToGlobal="true")
    level = str(config["compatibilityLevel"])
    if verdict["is_compatible"]:
        found: Sequence[Incompatibility] = ()
    else:
        found = _reasons(registry, options.subject, body, config)
    if options.json:
        print_document({**verdict, "level": level, "reasons": [_fields(each) for each in found]})
    else:
        _print(options, level, verdict, found)
    return 0 if verdict["is_compatible"] else 1


def _print(
    options: argparse.Namespace, level: str, verdict: Mapping[str, Any], found: Sequence[Incompatibility]
) -> None:
    style = Style.of()
    if verdict["is_compatible"]:
        print(style.paint(f"{options.file} may be the next version of {options.subject} ({level})", Tone.GOOD))
        return
    print(style.paint(f"{options.file} can't be the next version of {options.subject} ({level}):", Tone.BAD))
    for each in found:
        version = each.writer_version or each.reader_version
        print(f"\n{each.rule} at {each.reader_path or '/'}, beside version {version}")
        print(f"  {_sentence(each)}")
        print(f"  {each.advice}")
    if not found:
        print("\n".join(f"  {message}" for message in verdict.get("messages", ())))


def _sentence(reason: Incompatibility) -> str:
    """Confluent's text without the frame that programs take apart."""
    text = reason.text()
    _, found, rest = text.partition("description:'")
    return rest.partition("', additionalInfo")[0].removesuffix("'}") if found else text


def _fields(reason: Incompatibility) -> dict[str, object]:
    return {
        "rule": reason.rule,
        "readerPath": reason.reader_path,
        "writerPath": reason.writer_path,
        "version": reason.writer_version or reason.reader_version,
        "description": _sentence(reason),
        "advice": reason.advice,
    }


def _reasons(
    registry: RegistryCall, subject: str, body: Mapping[str, Any], config: Mapping[str, Any]
) -> Sequence[Incompatibility]:
    """What our own rules say; nothing where they can't be applied."""
    try:
        new = resolved_schema(registry, body)
        earlier = []
        for version in registry.get("subjects", subject, "versions"):
            stored = registry.get("subjects", subject, "versions", version)
            earlier.append((int(version), resolved_schema(registry, stored)))
        policy = Policy(config.get("compatibilityPolicy") or Policy.STRICT.value)
        return incompatibilities(Level.parse(str(config["compatibilityLevel"])), new, earlier, policy)
    except RegistryRefusalError as error:
        if error.error_code == _NO_SUBJECT:
            return ()
        raise
    except (InvalidSchemaError, ModuleNotFoundError):
        return ()
