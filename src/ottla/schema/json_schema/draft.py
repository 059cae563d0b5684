"""The drafts of JSON Schema that a document may be written in, told by its `$schema`."""

import enum
from typing import Final

from ottla.schema.json_text import Json


class Draft(enum.Enum):
    """A draft; its value is the URI of its metaschema."""

    DRAFT_4 = "http://json-schema.org/draft-04/schema#"
    DRAFT_6 = "http://json-schema.org/draft-06/schema#"
    DRAFT_7 = "http://json-schema.org/draft-07/schema#"
    DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"

    @property
    def id_keyword(self) -> str:
        """The keyword that names a schema."""
        return "id" if self is Draft.DRAFT_4 else "$id"

    @property
    def is_modern(self) -> bool:
        """Whether keywords beside `$ref` count, tuples are `prefixItems`, and `unevaluated…` restricts."""
        return self in (Draft.DRAFT_2019_09, Draft.DRAFT_2020_12)


def draft_of(document: Json) -> Draft:
    """The draft that `$schema` names: 7 when it is missing or unknown, as in Confluent's registry."""
    named = document.get("$schema") if isinstance(document, dict) else None
    if not isinstance(named, str):
        return Draft.DRAFT_7
    return _BY_URI.get(named.removesuffix("#").removeprefix("https:").removeprefix("http:"), Draft.DRAFT_7)


_BY_URI: Final = {
    "//json-schema.org/draft-04/schema": Draft.DRAFT_4,
    "//json-schema.org/schema": Draft.DRAFT_4,
    "//json-schema.org/draft-06/schema": Draft.DRAFT_6,
    "//json-schema.org/draft-07/schema": Draft.DRAFT_7,
    "//json-schema.org/draft/2019-09/schema": Draft.DRAFT_2019_09,
    "//json-schema.org/draft/2020-12/schema": Draft.DRAFT_2020_12,
}
