"""An Avro schema as a value: its graph of types, and its texts."""

from collections.abc import Mapping, Sequence

from ottla.schema.avro.compatibility import incompatibilities
from ottla.schema.avro.default import check_defaults
from ottla.schema.avro.fingerprint import Algorithm, fingerprint
from ottla.schema.avro.model import Enum, Named, Node, Record, children
from ottla.schema.avro.name import check_any_letter
from ottla.schema.avro.normal import normal_json, parsing_form
from ottla.schema.avro.parser import Parser
from ottla.schema.avro.printer import print_schema
from ottla.schema.incompatibility import DIFFERENT_SCHEMA_TYPE, Incompatibility
from ottla.schema.json_text import Json, read_json
from ottla.schema.parsed import ParsedSchema
from ottla.schema.policy import Policy
from ottla.schema.reference import Reference, in_order
from ottla.schema.schema_type import SchemaType


class AvroSchema:
    """A schema that was parsed together with all that it references.

    `strict` holds for what is new: names as the specification wants them, defaults that fit. Without it letters of any
    script are allowed in names, and defaults are what they are.
    """

    schema_type = SchemaType.AVRO

    def __init__(
        self, value: Json, references: Sequence[Reference], resolved: Mapping[str, str], *, strict: bool
    ) -> None:
        parser = Parser(strict=strict)
        self._known = tuple(parser.read(read_json(text, comments=True)).label for text in resolved.values())
        self.root = parser.read(value)
        parser.close()
        if strict:
            check_defaults(self.root, print_schema)
        else:
            _check_names(self.root)
        self.references = tuple(references)
        self.canonical_text = print_schema(self.root, self._known)
        self._resolved = resolved
        self._strict = strict

    @property
    def name(self) -> str | None:
        """The full name of a record; other types go without."""
        return self.root.label if isinstance(self.root, Record) else None

    def normalized(self) -> "AvroSchema":
        """With sorted attributes and aliases, without redundant ones."""
        value = normal_json(self.root, self._known)
        return AvroSchema(value, in_order(self.references), self._resolved, strict=self._strict)

    def formatted(self, form: str) -> str:
        """`resolved`: the text with all references written out. Unknown forms give the canonical text."""
        return print_schema(self.root) if form.lower() == "resolved" else self.canonical_text

    def incompatibilities(self, writer: ParsedSchema, policy: Policy) -> tuple[Incompatibility, ...]:
        """Why this schema can't read what `writer` wrote. The policy makes no difference to Avro."""
        if not isinstance(writer, AvroSchema):
            return (DIFFERENT_SCHEMA_TYPE,)
        return incompatibilities(self.root, writer.root)

    @property
    def parsing_form(self) -> str:
        """Avro's Parsing Canonical Form: equal for schemas that encode alike."""
        return parsing_form(self.root)

    def fingerprint(self, algorithm: Algorithm = Algorithm.RABIN) -> bytes:
        """A digest of the Parsing Canonical Form."""
        return fingerprint(self.parsing_form, algorithm)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AvroSchema)
            and self.canonical_text == other.canonical_text
            and self.references == other.references
        )

    def __hash__(self) -> int:
        return hash(self.canonical_text)

    def __repr__(self) -> str:
        return f"AvroSchema({self.canonical_text})"


def _check_names(root: Node) -> None:
    seen: set[int] = set()
    waiting: list[Node] = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Named):
            check_any_letter(node.name.simple, "")
        if isinstance(node, Record):
            for field in node.fields:
                check_any_letter(field.name, f"{node.path}/fields/{field.position}")
        elif isinstance(node, Enum):
            for symbol in node.symbols:
                check_any_letter(symbol, "")
        waiting.extend(children(node))
