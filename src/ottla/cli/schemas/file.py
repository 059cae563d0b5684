"""The schema in a file, as the body of a request."""

import argparse
from pathlib import Path
from typing import Final

from ottla.cli.output.advice import CommandError

_TYPES: Final = {".avsc": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}


def schema_request(options: argparse.Namespace) -> dict[str, object]:
    """The body of a request about the file that the options name."""
    path = Path(options.file)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {getattr(error, 'strerror', None) or error}; give a file that exists") from None
    kind = options.type or _TYPES.get(path.suffix.lower())
    if kind is None:
        raise CommandError(f"{path}: what kind of schema is it? Say --type AVRO, JSON or PROTOBUF")
    return {"schema": text, "schemaType": kind, "references": [_reference(each) for each in options.reference]}


def _reference(text: str) -> dict[str, object]:
    name, _, place = text.partition("=")
    subject, _, version = place.rpartition(":")
    if not name or not subject or not version.lstrip("-").isdecimal():
        raise CommandError(f"--reference {text}: it must have the form NAME=SUBJECT:VERSION")
    return {"name": name, "subject": subject, "version": int(version)}
