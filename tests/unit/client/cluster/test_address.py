import pytest

from ottla.base.config import ConfigError
from ottla.client.cluster.address import Address, parse_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:9092", Address("localhost", 9092)),
        (" kafka-1.example.com:9093 ", Address("kafka-1.example.com", 9093)),
        ("[::1]:9092", Address("::1", 9092)),
        ("[fe80::1%eth0]:9092", Address("fe80::1%eth0", 9092)),
        ("SASL_SSL://broker:9094", Address("broker", 9094)),
        ("under_score:1", Address("under_score", 1)),
    ],
)
def test_addresses_as_users_write_them(text: str, address: Address) -> None:
    assert parse_address("bootstrap.servers", text) == address


@pytest.mark.parametrize("text", ["", "localhost", ":9092", "a:b", "::1:9092", "a:0", "a:65536", "http://a:1/path"])
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_address("bootstrap.servers", text)


def test_a_forgotten_port_is_shown_in_place() -> None:
    with pytest.raises(ConfigError, match=r"for example kafka\.example\.com:9092"):
        parse_address("bootstrap.servers", "kafka.example.com")
