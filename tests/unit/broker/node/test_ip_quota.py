"""Quotas of addresses, from the cluster's metadata to the listeners."""

from ottla.broker.node.ip_quota import IpQuotas
from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import EMPTY_IMAGE, MetadataImage
from ottla.net.connection_rate import AddressRates
from ottla.protocol.metadata_log.config import ClientQuotaRecord, EntityData


def test_addresses_get_what_is_said_of_them_or_of_all() -> None:
    rates = AddressRates()
    quotas = IpQuotas(rates)

    def say(image: MetadataImage, kind: str, name: str | None, value: float | None) -> MetadataImage:
        delta = MetadataDelta(image)
        entity = [EntityData(entity_type=kind, entity_name=name)]
        key = "connection_creation_rate" if kind == "ip" else "producer_byte_rate"
        delta.client_quotas.replay(ClientQuotaRecord(entity=entity, key=key, value=value or 0.0, remove=value is None))
        after = delta.apply(image.provenance)
        quotas.metadata_changed(delta, after)
        return after

    def crowd(address: str) -> int:
        """How many may come at once."""
        return sum(not rates.delay_s(address, 1.0) for _ in range(100))

    image = say(EMPTY_IMAGE, "user", "alice", 5.0)
    assert crowd("10.0.0.1") == 100
    image = say(image, "ip", None, 2.0)
    image = say(image, "ip", "10.0.0.9", 1.0)
    assert (crowd("10.0.0.2"), crowd("10.0.0.9")) == (20, 10)
    say(image, "ip", None, None)
    assert crowd("10.0.0.2") == 100
