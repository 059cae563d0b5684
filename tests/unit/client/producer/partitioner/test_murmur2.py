"""The hash of keys against Apache Kafka's own, on both twins."""

import json
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pytest

from ottla.base.accelerated import compiled_module
from ottla.client.producer.partitioner import murmur2_plain
from ottla.client.producer.partitioner.murmur2 import partition_of_key
from ottla.protocol.errors import EncodeError
from ottla.protocol.records.arrow.source import source_of
from ottla.protocol.records.columns_layout import BinarySource

_COMPILED = compiled_module("ottla.client.producer.partitioner._murmur2")
TWINS = [murmur2_plain] if _COMPILED is None else [murmur2_plain, _COMPILED]
VECTORS = [
    found
    for line in Path("tests/vectors/hashes.jsonl").read_text().splitlines()
    if (found := json.loads(line))["kind"] == "murmur2"
]


@pytest.fixture(params=TWINS, ids=lambda module: module.__name__.rpartition(".")[2])
def twin(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = request.param
    return module


def test_hashes_are_javas(twin: ModuleType) -> None:
    assert len(VECTORS) > 5
    for vector in VECTORS:
        found = twin.murmur2(bytes.fromhex(vector["hex"]))
        assert found == vector["value"] & 0xFFFFFFFF
        assert found & 0x7FFFFFFF == vector["toPositive"]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string()])
def test_columns_as_single_keys(twin: ModuleType, kind: pa.DataType) -> None:
    keys = ["a", None, "", "customer-77", "x" * 50, None, "b"] * 3
    column = pa.array(keys, kind)[2:]
    source = source_of(pa.record_batch({"value": column}), 0).value
    found = memoryview(twin.key_partitions(source, len(column), 7)).cast("i").tolist()
    assert found == [-1 if key is None else partition_of_key(key.encode(), 7) for key in keys[2:]]
    assert twin.key_partitions(source, 0, 7) == bytearray()


@pytest.mark.parametrize(
    "source",
    [
        BinarySource(0, None, (0).to_bytes(4, "little"), b"abc", 4),
        BinarySource(0, b"", b"".join(n.to_bytes(4, "little") for n in (0, 1)), b"abc", 4),
        BinarySource(0, None, b"".join(n.to_bytes(4, "little") for n in (0, 9)), b"abc", 4),
        BinarySource(0, None, b"".join(n.to_bytes(8, "little") for n in (2, 1)), b"abc", 8),
    ],
)
def test_broken_columns_are_refused(twin: ModuleType, source: BinarySource) -> None:
    with pytest.raises(EncodeError):
        twin.key_partitions(source, 1, 7)
