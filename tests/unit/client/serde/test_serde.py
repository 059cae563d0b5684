"""Values become the bytes that Kafka's Java serializers write, and come back."""

import uuid
from typing import Any

import pytest

from ottla.client.config.producer import PRODUCER_KEYS
from ottla.client.config.settings import ClientSettings
from ottla.client.errors import SerializationError
from ottla.client.serde.json_value import JsonSerde
from ottla.client.serde.number import BooleanSerde, DoubleSerde, FloatSerde, IntegerSerde, LongSerde, ShortSerde
from ottla.client.serde.raw import BytesSerde, VoidSerde
from ottla.client.serde.serializer import deserialize_of, known, serialize_of
from ottla.client.serde.text import StringSerde
from ottla.client.serde.uuid_value import UuidSerde

PAIRS = [
    (ShortSerde(), -2, "fffe"),
    (IntegerSerde(), 1, "00000001"),
    (LongSerde(), -(2**63), "8000000000000000"),
    (FloatSerde(), 1.5, "3fc00000"),
    (DoubleSerde(), -0.0, "8000000000000000"),
    (BooleanSerde(), True, "01"),
    (StringSerde(), "ü", "c3bc"),
    (StringSerde("utf-16-be"), "ü", "00fc"),
    (BytesSerde(), b"\x00\xff", "00ff"),
    (JsonSerde(), {"a": [1, None, "ü"]}, '{"a":[1,null,"ü"]}'.encode().hex()),
    (UuidSerde(), uuid.UUID(int=5), b"00000000-0000-0000-0000-000000000005".hex()),
]
BAD_VALUES = [
    (ShortSerde(), 2**15),
    (IntegerSerde(), "1"),
    (LongSerde(), 1.5),
    (FloatSerde(), 1e300),
    (BooleanSerde(), 1),
    (StringSerde(), b"bytes"),
    (StringSerde(), "\ud800"),
    (BytesSerde(), 5),
    (JsonSerde(), {1, 2}),
    (UuidSerde(), "5"),
    (VoidSerde(), b""),
]
BAD_BYTES = [
    (ShortSerde(), b"1"),
    (DoubleSerde(), b"1234567"),
    (BooleanSerde(), b"\x02"),
    (StringSerde(), b"\xff"),
    (JsonSerde(), b"{"),
    (UuidSerde(), b"five"),
    (VoidSerde(), b""),
]


@pytest.mark.parametrize(("serde", "value", "expected"), PAIRS)
def test_there_and_back(serde: Any, value: object, expected: str) -> None:
    data = serde.serialize("t", (), value)
    assert data.hex() == expected
    assert serde.deserialize("t", (), data) == value


@pytest.mark.parametrize("serde", [*{type(pair[0]): pair[0] for pair in PAIRS}.values(), VoidSerde()])
def test_none_stays_none(serde: Any) -> None:
    assert serde.serialize("t", (), None) is None
    assert serde.deserialize("t", (), None) is None


@pytest.mark.parametrize(("serde", "value"), BAD_VALUES)
def test_values_that_do_not_fit(serde: Any, value: object) -> None:
    with pytest.raises(SerializationError):
        serde.serialize("t", (), value)


@pytest.mark.parametrize(("serde", "data"), BAD_BYTES)
def test_bytes_that_mean_nothing(serde: Any, data: bytes) -> None:
    with pytest.raises(SerializationError):
        serde.deserialize("t", (), data)


def test_every_known_name_leads_somewhere() -> None:
    for name in known("Serializer"):
        settings = ClientSettings.of(PRODUCER_KEYS, bootstrap_servers="a:1", value_serializer=name)
        assert serialize_of(settings.plugin("value.serializer", known("Serializer")))("t", (), None) is None
    assert "org.apache.kafka.common.serialization.ByteArraySerializer" in known("Serializer")
    assert "org.apache.kafka.common.serialization.UUIDDeserializer" in known("Deserializer")


def test_plain_callables() -> None:
    assert serialize_of(str.encode)("t", (), "a") == b"a"
    assert serialize_of(str.encode)("t", (), None) is None
    assert deserialize_of(bytes.decode)("t", (), b"a") == "a"
    for convert in (serialize_of, deserialize_of):
        with pytest.raises(TypeError):
            convert(5)
