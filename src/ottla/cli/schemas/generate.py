"""`ottla schemas generate`: Python modules with classes for a schema, of a subject or in a file."""

import argparse
from pathlib import Path
from typing import cast

from ottla.cli.output.advice import CommandError
from ottla.cli.output.document import print_document
from ottla.cli.schemas.file import schema_request
from ottla.cli.schemas.registry_call import RegistryCall
from ottla.cli.schemas.resolved import resolved_schema
from ottla.schema.avro.schema import AvroSchema
from ottla.schema.error import InvalidSchemaError
from ottla.schema.generation.avro import avro_module
from ottla.schema.generation.python import identifier
from ottla.schema.parsed import ParsedSchema
from ottla.schema.schema_type import SchemaType


def generate(registry: RegistryCall, options: argparse.Namespace) -> int:
    """Writes the modules, and says which."""
    directory = Path(options.out)
    package = options.package if options.package is not None else directory.name
    try:
        schema, label = _schema(registry, options)
        modules = _modules(schema, _module_name(label), package, label)
    except InvalidSchemaError as error:
        raise CommandError(f"{options.source}: {error.message}") from None
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in {"__init__.py": "", "py.typed": "", **modules}.items():
            place = directory / name
            if text or not place.exists():
                place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{directory}: {error.strerror}; give a directory that can be written to") from None
    if options.json:
        print_document([str(directory / name) for name in modules])
    else:
        print("\n".join(str(directory / name) for name in modules))
    return 0


def _schema(registry: RegistryCall, options: argparse.Namespace) -> tuple[ParsedSchema, str]:
    """The schema, and what it is called."""
    if Path(options.source).is_file():
        options.file = options.source
        return resolved_schema(registry, schema_request(options)), Path(options.source).stem
    found = registry.get("subjects", options.source, "versions", options.version)
    return resolved_schema(registry, found), str(options.source)


def _module_name(label: str) -> str:
    """`orders-value` → `orders_value`."""
    return identifier(label.replace("-", "_").replace(".", "_").lower())


def _modules(schema: ParsedSchema, name: str, package: str, label: str) -> dict[str, str]:
    doc = f"Generated from {label}."
    if isinstance(schema, AvroSchema):
        return {f"{name}.py": avro_module(schema, doc)}
    if schema.schema_type is SchemaType.PROTOBUF:
        from ottla.schema.generation.protobuf import protobuf_modules
        from ottla.schema.protobuf.schema import ProtobufSchema

        return protobuf_modules(cast(ProtobufSchema, schema), name, package)
    from ottla.schema.generation.json_schema import json_schema_module
    from ottla.schema.json_schema.schema import JsonSchema

    return {f"{name}.py": json_schema_module(cast(JsonSchema, schema), doc)}
