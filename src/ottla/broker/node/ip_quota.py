"""Client quotas of the entity `ip`: how fast connections may come from an address, taken from the image (KIP-612)."""

from typing import Final

from ottla.metadata.image.metadata_delta import MetadataDelta
from ottla.metadata.image.metadata_image import MetadataImage
from ottla.net.connection_rate import AddressRates
from ottla.net.limits import UNLIMITED

_KEY: Final = "connection_creation_rate"
_TYPE: Final = "ip"


class IpQuotas:
    """A metadata listener that keeps the limits of addresses up to date."""

    def __init__(self, rates: AddressRates) -> None:
        self._rates: Final = rates

    def metadata_changed(self, delta: MetadataDelta, image: MetadataImage) -> None:
        """Takes what is said of addresses, if something else is said than before."""
        if not any(entity[0][0] == _TYPE for entity in delta.client_quotas.changes):
            return
        limits = {
            entity[0][1]: quotas[_KEY]
            for entity, quotas in image.client_quotas.items()
            if entity[0][0] == _TYPE and _KEY in quotas
        }
        default = limits.pop(None, UNLIMITED)
        self._rates.change(default, {name: limit for name, limit in limits.items() if name is not None})
