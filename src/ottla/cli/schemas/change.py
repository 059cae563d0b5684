"""`ottla schemas register`, `delete` and `config`."""

import argparse

from ottla.cli.output.confirmation import confirm
from ottla.cli.output.document import print_document
from ottla.cli.schemas.file import schema_request
from ottla.cli.schemas.registry_call import RegistryCall


def register(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Registers a file as the next version."""
    normalize = str(options.normalize).lower()
    found = registry.post("subjects", options.subject, "versions", body=schema_request(options), normalize=normalize)
    if options.json:
        print_document(found)
    else:
        version = f" version {found['version']}," if "version" in found else ""
        print(f"{options.subject}{version} id {found['id']}")
    return 0


def delete(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Deletes a subject or one version of it."""
    what = options.subject if options.version is None else f"{options.subject} version {options.version}"
    if options.permanent:
        confirm(f"Forget {what} for good? Records with its id can't be read any more.", is_answered=options.yes)
    place = ["subjects", options.subject]
    if options.version is not None:
        place += ["versions", options.version]
    found = registry.delete(*place, permanent=str(options.permanent).lower())
    numbers = found if isinstance(found, list) else [found]
    if options.json:
        print_document(numbers)
    else:
        print(f"deleted {options.subject} version {', '.join(map(str, numbers))}")
    return 0


def configure(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Shows or changes the compatibility of a subject, or of the whole registry."""
    place = ["config"] if options.subject is None else ["config", options.subject]
    if options.level is not None:
        registry.put(*place, body={"compatibility": options.level})
    elif options.unset:
        registry.delete(*place)
    found = registry.get(*place, defaultToGlobal="true")
    if options.json:
        print_document(found)
    else:
        for name, value in found.items():
            print(f"{name}={value}")
    return 0
