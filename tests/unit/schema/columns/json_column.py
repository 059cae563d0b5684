"""Columns of JSON documents by all twins."""

import json
from collections.abc import Sequence
from typing import Any

from ottla.schema.columns.json import decoding
from ottla.schema.columns.json.decoding import JsonColumns
from ottla.schema.columns.json.encoding import JsonRecords
from ottla.schema.json_schema.parse import parse
from ottla.schema.json_schema.schema import JsonSchema
from tests.unit.schema.columns import twins

PLACE: twins.Place = (decoding, "DocumentDecoder", twins.DOCUMENT_DECODERS)


def parsed(document: Any) -> JsonSchema:
    return parse(json.dumps(document), (), {}, strict=True)


def decode(records: Sequence[bytes | None], document: Any) -> tuple[Any, dict[int, str]]:
    """The array and the flaws, which all twins agree on."""
    return twins.decoded(PLACE, lambda: JsonColumns(parsed(document)), records)


def encode(rows: Any, document: Any) -> tuple[list[bytes | None], dict[int, str]]:
    """The records and the flaws, which all twins agree on."""
    return twins.encoded(lambda: JsonRecords(parsed(document)), rows)
