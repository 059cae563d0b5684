import asyncio

import pytest

from ottla.base.config import ConfigError
from ottla.client.cluster.address import Address
from ottla.client.cluster.bootstrap import bootstrap_addresses
from ottla.client.cluster.cluster_client import ClusterClient
from ottla.client.config.admin import ADMIN_KEYS
from ottla.client.config.settings import ClientSettings


def settings(**given: object) -> ClientSettings:
    return ClientSettings.of(ADMIN_KEYS, None, **given)


def test_an_address_given_twice_is_tried_once() -> None:
    found = asyncio.run(bootstrap_addresses(settings(bootstrap_servers="a:1,b:2,a:1")))
    assert found == (Address("a", 1), Address("b", 2))


def test_a_canonical_name_takes_the_place_of_an_address() -> None:
    given = settings(bootstrap_servers="127.0.0.1:9092", client_dns_lookup="resolve_canonical_bootstrap_servers_only")
    (found,) = asyncio.run(bootstrap_addresses(given))
    assert found.port == 9092
    assert found.host != ""


@pytest.mark.parametrize("given", [{}, {"bootstrap_servers": "localhost"}, {"bootstrap_servers": ["a:1", "b"]}])
def test_bad_addresses_are_refused_before_anything_is_tried(given: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"bootstrap\.servers"):
        ClusterClient(settings(**given))
