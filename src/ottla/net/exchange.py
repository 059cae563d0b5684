"""One request on its way to its answer: see `channel_plain.Exchange`."""

from ottla.net.channel import GONE, Exchange

__all__ = ["GONE", "Exchange"]
