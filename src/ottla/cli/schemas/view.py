"""`ottla schemas list`, `show` and `diff`."""

import argparse
import difflib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.output.style import Style, Tone
from ottla.cli.output.table import table
from ottla.cli.schemas.registry_call import RegistryCall


def list_subjects(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Prints the latest version of each subject."""
    prefix = options.prefix or ":*:"
    found = registry.get("schemas", subjectPrefix=prefix, latestOnly="true", deleted=str(options.deleted).lower())
    if options.json:
        print_document(found)
    elif found:
        rows = [[each["subject"], each.get("schemaType", "AVRO"), each["version"], str(each["id"])] for each in found]
        print(table(["Subject", "Type", "Version", "Id"], rows, Style.of()))
    else:
        print("There are no subjects yet: `ottla schemas register SUBJECT FILE` makes one")
    return 0


def show(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Prints one version, or the numbers of all."""
    if options.versions:
        numbers = registry.get("subjects", options.subject, "versions")
        print_document(numbers) if options.json else print(*numbers, sep="\n")
        return 0
    found = registry.get("subjects", options.subject, "versions", options.version)
    if options.json:
        print_document(found)
        return 0
    style = Style.of()
    print(style.paint(f"{found['subject']} version {found['version']}, id {found['id']}", Tone.STRONG))
    for each in found.get("references", ()):
        print(f"refers to {each['name']}: {each['subject']} version {each['version']}")
    print(readable(found))
    return 0


def diff(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Prints how two versions, or a version and a file, differ; exit code 1 if they do."""
    old = registry.get("subjects", options.subject, "versions", options.old)
    if Path(options.new).is_file():
        kind = old.get("schemaType", "AVRO")
        new: Mapping[str, Any] = {"schema": Path(options.new).read_text(encoding="utf-8"), "schemaType": kind}
        new_name = options.new
    else:
        new = registry.get("subjects", options.subject, "versions", options.new)
        new_name = f"{options.subject} version {new['version']}"
    old_name = f"{options.subject} version {old['version']}"
    lines = list(difflib.unified_diff(readable(old).splitlines(), readable(new).splitlines(), old_name, new_name, n=2,
                                      lineterm=""))  # fmt: skip
    if options.json:
        print_document({"old": old_name, "new": new_name, "lines": lines})
    elif lines:
        style = Style.of()
        print("\n".join(_painted(lines, style)))
    else:
        print(f"{old_name} and {new_name} are the same")
    return 1 if lines else 0


def readable(schema: Mapping[str, Any]) -> str:
    """A schema's text over several lines, so that people and `diff` can read it.

    >>> print(readable({"schema": '{"type":"array","items":"int"}'}))
    {
      "type": "array",
      "items": "int"
    }
    """
    text = str(schema["schema"])
    if schema.get("schemaType") == "PROTOBUF":
        return text.rstrip()
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        raise CommandError("the schema is not JSON; is --type right?") from None


def _painted(lines: Iterable[str], style: Style) -> Iterable[str]:
    tones = {"+": Tone.GOOD, "-": Tone.BAD, "@": Tone.FAINT}
    for line in lines:
        tone = Tone.STRONG if line.startswith(("+++", "---")) else tones.get(line[:1])
        yield style.paint(line, tone) if tone is not None else line
