"""The twins that every test of schemas' columns runs on: plain always, compiled where it was built."""

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any
from unittest import mock

import pyarrow as pa

from ottla.schema.columns import decoder_plain, encoder_plain, encoding
from ottla.schema.columns.json import decoder_plain as json_plain
from ottla.schema.columns.protobuf import decoder_plain as protobuf_plain


def _with_compiled(plain: ModuleType, compiled: str) -> list[ModuleType]:
    try:
        return [plain, importlib.import_module(compiled)]
    except ImportError:
        return [plain]


DECODERS = _with_compiled(decoder_plain, "ottla.schema.columns._decoder")
ENCODERS = _with_compiled(encoder_plain, "ottla.schema.columns._encoder")
MESSAGE_DECODERS = _with_compiled(protobuf_plain, "ottla.schema.columns.protobuf._decoder")
DOCUMENT_DECODERS = _with_compiled(json_plain, "ottla.schema.columns.json._decoder")


def name(twin: ModuleType) -> str:
    """For test ids."""
    return "compiled" if twin.__name__.rpartition(".")[2].startswith("_") else "plain"


Place = tuple[ModuleType, str, Sequence[ModuleType]]
"""The module that uses a decoder, the decoder's name there, and the twins that have it."""


def readers(place: Place, columns: Callable[[], Any]) -> list[tuple[Any, int]]:
    """By each twin the columns, and the program for records of the reader's own schema."""
    module, decoder, found = place
    made = []
    for twin in found:
        with mock.patch.object(module, decoder, getattr(twin, decoder)):
            one = columns()
        made.append((one, one.add(one.schema)))
    return made


def decoded(place: Place, columns: Callable[[], Any], records: Sequence[bytes | None]) -> tuple[Any, dict[int, str]]:
    """The array and the flaws of records of the reader's own schema, which all twins agree on."""
    return read(readers(place, columns), records)


def read(made: Sequence[tuple[Any, int]], records: Sequence[bytes | None]) -> tuple[Any, dict[int, str]]:
    """The array and the flaws that all readers agree on."""
    outcomes = []
    for columns, program in made:
        programs = pa.array([program] * len(records), pa.int32())
        array, flaws = columns.decode(pa.array(records, pa.binary()), programs)
        array.validate(full=True)
        outcomes.append((array, flaws))
    for array, flaws in outcomes[1:]:
        assert flaws == outcomes[0][1]
        assert array.type == outcomes[0][0].type
        assert repr(array.to_pylist()) == repr(outcomes[0][0].to_pylist())
    return outcomes[0]


def encoded(records: Callable[[], Any], rows: Any) -> tuple[list[bytes | None], dict[int, str]]:
    """The records and the flaws, which all twins agree on."""
    outcomes = []
    for twin in ENCODERS:
        with mock.patch.object(encoding, "encode_rows", twin.encode_rows):
            array, flaws = records().encode(rows)
        array.validate(full=True)
        outcomes.append((array.to_pylist(), flaws))
    assert all(outcome == outcomes[0] for outcome in outcomes)
    return outcomes[0]
