"""A Protobuf schema with all that it needs: the value behind `ottla.schema.parsed.ParsedSchema`."""

import base64
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from ottla.schema.incompatibility import Incompatibility
from ottla.schema.parsed import ParsedSchema
from ottla.schema.policy import Policy
from ottla.schema.protobuf.comparison import compare
from ottla.schema.protobuf.descriptor import writer as descriptor_writer
from ottla.schema.protobuf.difference import Difference
from ottla.schema.protobuf.element import File
from ottla.schema.protobuf.extension_filter import without_extensions
from ottla.schema.protobuf.normal_form import normalize
from ottla.schema.protobuf.scope import Scope
from ottla.schema.protobuf.text.writer import write
from ottla.schema.protobuf.validation import validate
from ottla.schema.reference import Reference
from ottla.schema.schema_type import SchemaType


class ProtobufSchema:
    """A .proto file and the files that it imports."""

    def __init__(self, file: File, references: Sequence[Reference], dependencies: Mapping[str, File]) -> None:
        self.file: Final = file
        self._references: Final = tuple(references)
        self.dependencies: Final = dependencies

    @property
    def schema_type(self) -> SchemaType:
        """Protobuf."""
        return SchemaType.PROTOBUF

    @property
    def references(self) -> tuple[Reference, ...]:
        """The schemas that it imports, as they were given."""
        return self._references

    @cached_property
    def canonical_text(self) -> str:
        """The regenerated .proto text."""
        return write(self.file)

    @property
    def name(self) -> str | None:
        """The full name of the first message, or else of the first enum.

        A file that only passes another on, by one `import public`, has the other's name.
        """
        file = self._effective_file()
        names = [*(one.name for one in file.messages), *(one.name for one in file.enums)]
        if not names:
            return None
        return f"{file.package}.{names[0]}" if file.package else names[0]

    def normalized(self) -> "ProtobufSchema":
        """The schema with sorted fields and full names; its references are sorted too."""
        references = sorted(set(self._references), key=lambda one: (one.name, one.subject, one.version))
        return ProtobufSchema(normalize(self.file, self.scope), references, self.dependencies)

    def formatted(self, form: str) -> str:
        """`serialized`: base64 of the FileDescriptorProto. `ignore_extensions`: without what extensions add."""
        match form.lower():
            case "serialized":
                return base64.b64encode(self.descriptor().SerializeToString(deterministic=True)).decode()
            case "ignore_extensions":
                return write(without_extensions(self.file))
        return self.canonical_text

    def incompatibilities(self, writer: ParsedSchema, policy: Policy) -> tuple[Incompatibility, ...]:
        """Why this schema can't read what the other wrote; Protobuf has no lenient policy."""
        if not isinstance(writer, ProtobufSchema):
            raise TypeError(f"{writer.schema_type} is compared with {self.schema_type}")
        found = (difference.incompatibility() for difference in self.differences(writer))
        return tuple(one for one in found if one is not None)

    def differences(self, earlier: "ProtobufSchema") -> list[Difference]:
        """Everything that changed since an earlier version."""
        return compare(earlier.scope, self.scope)

    @cached_property
    def scope(self) -> Scope:
        """The names of types and extensions in the file and its imports."""
        return Scope(self.file, self.dependencies, self._references)

    def validate(self) -> None:
        """Raises InvalidSchemaError where no descriptor can be made of the schema."""
        validate(self.scope)
        self.descriptor()

    def descriptor(self, path: str = descriptor_writer.DEFAULT_PATH) -> FileDescriptorProto:
        """The file's descriptor. The caller may change it."""
        return descriptor_writer.write(self.scope, self.dependencies, path)

    def dependency_descriptors(self) -> dict[str, FileDescriptorProto]:
        """The descriptors of all imported files, each after those that it imports."""
        return {
            path: descriptor_writer.write(Scope(file, self.dependencies), self.dependencies, path)
            for path, file in self.dependencies.items()
        }

    def _effective_file(self) -> File:
        file = self.file
        if any((file.messages, file.enums, file.imports, file.services, file.extends)) or len(file.public_imports) != 1:
            return file
        passed_on = self.dependencies.get(file.public_imports[0])
        return passed_on if passed_on is not None and (passed_on.messages or passed_on.enums) else file

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProtobufSchema):
            return NotImplemented
        return self.canonical_text == other.canonical_text and self._references == other._references

    def __hash__(self) -> int:
        return hash((self.canonical_text, self._references))

    def __repr__(self) -> str:
        return f"ProtobufSchema({self.name!r})"
