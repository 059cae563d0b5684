"""The messages of Avro's incompatibilities in Confluent's words, each with advice."""

from collections.abc import Sequence

from ottla.base.frozen import frozen
from ottla.base.java.order import sort_key
from ottla.schema.avro.model import Enum, Field, Fixed, Named, Node, Record
from ottla.schema.avro.printer import print_schema
from ottla.schema.incompatibility import Incompatibility


@frozen
class Place:
    """The paths into both schemas at which they are being compared; the root is the empty path."""

    reader: str
    writer: str

    def at(self, token: str) -> "Place":
        """The place one step further down, on both sides."""
        return Place(f"{self.reader}/{token}", f"{self.writer}/{token}")


def type_mismatch(reader: Node, writer: Node, place: Place) -> Incompatibility:
    """The writer's type can't become the reader's."""
    kinds = reader.kind.upper(), writer.kind.upper()
    return _broken(
        "TYPE_MISMATCH",
        place,
        f"The type (path '{place.reader or '/'}') of a field in the {{reader}} schema does not match with the "
        "{writer} schema",
        f"reader type: {kinds[0]} not compatible with writer type: {kinds[1]}",
        f"Keep the type {writer.kind}, or read it as a union of {writer.kind} and {reader.kind}.",
    )


def name_mismatch(reader: Named, writer: Named, place: Place) -> Incompatibility:
    """The types are of different names."""
    place = place.at("name")
    return _broken(
        "NAME_MISMATCH",
        place,
        f"The name of the schema has changed (path '{place.reader}')",
        f"expected: {writer.name.full}",
        f'Keep the name {writer.name.simple}, or give {reader.name.simple} the alias "{writer.name.full}".',
    )


def size_mismatch(reader: Fixed, writer: Fixed, place: Place) -> Incompatibility:
    """Fixed types of different sizes."""
    place = place.at("size")
    return _broken(
        "FIXED_SIZE_MISMATCH",
        place,
        f"The size of FIXED type field at path '{place.reader}' in the {{reader}} schema does not match with the "
        "{writer} schema",
        f"expected: {writer.size}, found: {reader.size}",
        f"Keep the size {writer.size}; data of another size needs a type of another name, in a union with this one.",
    )


def missing_symbols(reader: Enum, symbols: Sequence[str], place: Place) -> Incompatibility:
    """The writer may write symbols that the reader does not know."""
    place = place.at("symbols")
    listed = f"[{', '.join(sorted(symbols, key=sort_key))}]"
    return _broken(
        "MISSING_ENUM_SYMBOLS",
        place,
        f"The {{reader}} schema is missing enum symbols '{listed}' at path '{place.reader}' in the {{writer}} schema",
        listed,
        f"Keep the symbols {listed} in {reader.name.simple}, or give it a default that stands for unknown symbols.",
    )


def missing_default(field: Field, place: Place) -> Incompatibility:
    """The writer does not write a field that the reader needs."""
    return _broken(
        "READER_FIELD_MISSING_DEFAULT_VALUE",
        place,
        f"The field '{field.name}' at path '{place.reader}' in the {{reader}} schema has no default value and is "
        "missing in the {writer} schema",
        field.name,
        f"Give the field '{field.name}' a default, or, if it has another name on the other side, that name as alias.",
    )


def missing_branch(writer: Node, place: Place) -> Incompatibility:
    """No branch of the reader's union reads a type that the writer may write."""
    return _broken(
        "MISSING_UNION_BRANCH",
        place,
        f"The {{reader}} schema is missing a type inside a union field at path '{place.reader or '/'}' in the "
        "{writer} schema",
        f"reader union lacking writer type: {writer.kind.upper()}",
        f"Keep {writer.label} in the union that reads.",
    )


def ambiguous_field(field: Field, writer: Record, place: Place) -> Incompatibility:
    """A reader's field matches several of the writer's by its name and its aliases."""
    return Incompatibility(
        rule="AMBIGUOUS_FIELD",
        reader_path=place.reader,
        writer_path=place.writer,
        message=f"Unexpected exception during compatibility check: Reader record field {field.name} "
        f"type:{field.type.kind.upper()} pos:{field.position} matches multiple fields in writer record schema "
        f"{print_schema(writer)}",
        advice=f"Remove an alias of the field '{field.name}': its name and aliases match several fields.",
    )


def _broken(rule: str, place: Place, description: str, info: str, advice: str) -> Incompatibility:
    return Incompatibility(
        rule=rule,
        reader_path=place.reader or "/",
        writer_path=place.writer or "/",
        message=f"{{errorType:'{rule}', description:'{description}', additionalInfo:'{info}'}}",
        advice=advice,
    )
