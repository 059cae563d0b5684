"""Ids as text, against Apache Kafka's own spelling."""

import json

import pytest

from ottla.base.ids import ZERO_UUID, Uuid
from tests.vectors.message_vectors import ROOT

ROWS = [json.loads(line) for line in (ROOT / "hashes.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("row", [row for row in ROWS if row["kind"] == "uuid"], ids=lambda row: row["text"])
def test_spelled_as_kafka_spells_it(row: dict[str, str]) -> None:
    uuid = Uuid(bytes.fromhex(row["hex"]))
    assert str(uuid) == row["text"]
    assert Uuid.parse(row["text"]) == uuid


def test_is_sixteen_bytes_everywhere() -> None:
    assert Uuid(range(16)) == bytes(range(16))
    assert {Uuid(16): "zero"}[ZERO_UUID] == "zero"
    assert repr(ZERO_UUID) == "Uuid('AAAAAAAAAAAAAAAAAAAAAA')"


@pytest.mark.parametrize("text", ["", "AAAA", "A" * 21, "A" * 23, "!" * 22, "A" * 21 + "\n", "A" * 22 + "=="])
def test_nothing_else_is_an_id(text: str) -> None:
    with pytest.raises(ValueError, match="uuid"):
        Uuid.parse(text)
